"""The same training as in `simulate`, as a plain loop: nothing shared with it but the data and the definitions."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.integrate import solve_ivp

from ...numerics.streams import Purpose, stream
from ...problem.models import Model
from ...problem.tasks import Task
from ...problem.trainings import StepClock, Training
from ...simulation import join, shared_data, trial_data
from ...types import PRNGKey

TOLERANCE = 1e-8


def train_error_by_loop(
    model: Model, task: Task, training: Training, dim: int, key: PRNGKey, times: Float[np.ndarray, "times"]
) -> Float[np.ndarray, "times"]:
    """Return the training error of trial 0 at given times, step times for gradient descent."""
    samples = task.samples(dim)
    data = join(shared_data(task), trial_data(task, samples, dim, key, jnp.array(0)))
    normals = jax.random.normal(stream(key, Purpose.INIT, jnp.array(0)), (dim, model.num_normals))
    assert data.w_star is not None  # a task draws its target
    start = jax.vmap(model.init, in_axes=(0, -1), out_axes=-1)(normals, data.w_star)
    weight = jax.vmap(model.weight, in_axes=(None, -1), out_axes=-1)
    drift = jax.vmap(model.drift, in_axes=(None, -1, -1), out_axes=-1)
    labels = (data.f_star, data.noise)

    @jax.jit
    def velocity(t, theta):
        f = weight(t, theta) @ data.X.T
        residual = jax.vmap(task.residual, in_axes=-1, out_axes=-1)(f, *labels)
        return drift(t, theta, residual @ data.X * dim / samples)

    @jax.jit
    def error(t, theta):
        return jnp.mean(jax.vmap(task.error, in_axes=-1)(weight(t, theta) @ data.X.T, *labels))

    clock = training.clock
    if isinstance(clock, StepClock):
        states = _steps(velocity, start, float(clock.step_size), times)
    else:
        states = _flow(velocity, start, times)
    return np.array([float(error(jnp.array(t), theta)) for t, theta in zip(times, states, strict=True)])


def _steps(velocity: Callable, theta: jax.Array, step: float, times: np.ndarray) -> list[jax.Array]:
    wanted = np.round(times / step).astype(int)
    states = {}
    for i in range(wanted[-1] + 1):
        states[i] = theta
        theta = theta + step * velocity(jnp.array(i * step), theta)
    return [states[i] for i in wanted]


def _flow(velocity: Callable, theta: jax.Array, times: np.ndarray) -> list[jax.Array]:
    side = lambda t, y: np.asarray(velocity(jnp.array(t), jnp.asarray(y).reshape(theta.shape))).ravel()
    solved = solve_ivp(
        side, (0.0, times[-1]), np.asarray(theta).ravel(), method="DOP853", t_eval=times, rtol=TOLERANCE, atol=TOLERANCE
    )
    return [jnp.asarray(y).reshape(theta.shape) for y in solved.y.T]
