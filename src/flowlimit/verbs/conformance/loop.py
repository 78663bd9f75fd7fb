"""The same training as in `simulate`, as a plain loop: data, random numbers and definitions are all that is shared."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.integrate import solve_ivp

from ...numerics.streams import Purpose, stream
from ...problem.models import Model
from ...problem.tasks import Task
from ...problem.trainings import Training
from ...simulation import draw_trial, init_normals, join, shared_data
from ...simulation.noise import kick, masked, seen_noise, step_keys
from ...types import PRNGKey

TOLERANCE = 1e-8


def train_error_by_loop(
    model: Model, task: Task, training: Training, dim: int, key: PRNGKey, times: Float[np.ndarray, "times"]
) -> Float[np.ndarray, "times"]:
    """Return the training error of trial 0 at given times, step times for gradient descent."""
    samples = task.samples(dim)
    data = join(shared_data(task), draw_trial(task, samples, dim, key, jnp.array(0)))
    normals = init_normals(stream(key, Purpose.INIT, jnp.array(0)), dim, model.num_normals, data.strata)
    assert data.w_star is not None  # a task draws its target
    start = jax.vmap(model.init, in_axes=(0, -1), out_axes=-1)(normals, data.w_star)
    weight = jax.vmap(model.weight, in_axes=(None, -1), out_axes=-1)
    noise, steps_key = training.noise, stream(key, Purpose.STEPS, jnp.array(0))

    @jax.jit
    def velocity(t, theta, step, factor):
        keys = step_keys(steps_key, step)
        f = weight(t, theta) @ data.X.T
        seen = seen_noise(noise, data.noise, keys)
        residual = masked(noise, jax.vmap(task.residual, in_axes=-1, out_axes=-1)(f, data.f_star, seen), keys)
        own = eqx.tree_at(lambda m: m.weight_decay, model, replace_fn=lambda x: factor * x) if decays else model
        return jax.vmap(own.drift, in_axes=(None, -1, -1), out_axes=-1)(t, theta, residual @ data.X * dim / samples)

    @jax.jit
    def error(t, theta):
        return jnp.mean(jax.vmap(task.error, in_axes=-1)(weight(t, theta) @ data.X.T, data.f_star, data.noise))

    decays = getattr(training, "decay_factor", None) is not None
    if training.clock.in_steps:
        random = lambda theta, step, size: kick(noise, size, theta, step_keys(steps_key, step))
        states = _steps(velocity, random, start, training, times)
    else:
        states = _flow(lambda t, theta: velocity(t, theta, 0, 1.0), start, times)
    return np.array([float(error(jnp.array(t), theta)) for t, theta in zip(times, states, strict=True)])


def _steps(velocity: Callable, random: Callable, theta: jax.Array, training: Any, times: np.ndarray) -> list[jax.Array]:
    """Take steps as the training's definition reads, velocity and schedules written out."""
    each = lambda value: np.broadcast_to(1.0 if value is None else value, training.num_steps)
    sizes, factors, beta = (
        each(training.step_size),
        each(training.decay_factor),
        float(getattr(training, "momentum", 0.0)),
    )
    v, t, states = jnp.zeros_like(theta), 0.0, {}
    for i in range(training.num_steps + 1):
        states[round(t, 9)] = theta
        if i < training.num_steps:
            p = velocity(jnp.array(t), theta, jnp.array(i), jnp.array(factors[i]))
            v = beta * v + p
            kicked = random(theta, jnp.array(i), jnp.array(sizes[i]))
            theta = theta + sizes[i] * (p + beta * v if getattr(training, "nesterov", False) else v) + kicked
            t += sizes[i]
    return [states[round(float(t), 9)] for t in times]


def _flow(velocity: Callable, theta: jax.Array, times: np.ndarray) -> list[jax.Array]:
    side = lambda t, y: np.asarray(velocity(jnp.array(t), jnp.asarray(y).reshape(theta.shape))).ravel()
    solved = solve_ivp(
        side, (0.0, times[-1]), np.asarray(theta).ravel(), method="DOP853", t_eval=times, rtol=TOLERANCE, atol=TOLERANCE
    )
    return [jnp.asarray(y).reshape(theta.shape) for y in solved.y.T]
