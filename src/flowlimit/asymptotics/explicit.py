"""Explicit solutions of single phases, and the scalar flow of infinite data, eq. (dmft_inf_delta)."""

import diffrax
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..numerics.compiling import compiled
from ..numerics.stable import scaled_cosh, scaled_sinh
from ..types import Scalar

Times = Float[Array, "times"]
Paths = Float[Array, "paths"]
Grid = Float[Array, "times paths"]
RTOL = 1e-10


def search_weights(times: Times, pull: Paths, weight_decay: Scalar | float = 0.0) -> Grid:
    """Return W(t) = w(t)/alpha^2 of the search phase, for paths pulled by w* - z(0)/delta.

    Examples
    --------
    >>> search_weights(jnp.array([1.0]), jnp.array([0.5]))[0, 0] == jnp.sinh(0.5)
    Array(True, dtype=bool)
    """
    return jnp.exp(-weight_decay * times)[:, None] * jnp.sinh(times[:, None] * pull[None, :])


def logistic_weights(times: Times, w_star: Paths, start: Paths, weight_decay: Scalar | float = 0.0) -> Grid:
    """Return w(tau) of the rich and descent phases, eq. (rich_ode), from w(0) = start, of the sign of w*.

    With D = |w*| - lambda it is the logistic curve D/(1 + C e^(-D tau)); its limit is w* soft-thresholded at lambda.

    Examples
    --------
    >>> round(float(logistic_weights(jnp.array([30.0]), jnp.array([1.0]), jnp.array([0.1]), 0.2)[0, 0]), 6)
    0.8
    """
    excess, size = (jnp.abs(w_star) - weight_decay)[None, :], jnp.abs(start)[None, :]
    grown = times[:, None] * excess
    # D/(1 + C e^(-D tau)) with C = (D - s)/s, written so that D = 0 gives s/(1 + s tau)
    ratio = jnp.where(jnp.abs(grown) > 1e-8, -jnp.expm1(-grown) / jnp.where(excess == 0.0, 1.0, excess), times[:, None])
    return jnp.sign(w_star)[None, :] * size / (jnp.exp(-grown) + size * ratio)


@compiled
def infinite_data_weights(
    times: Times, w_star: Paths, init_scale: Scalar | float, weight_decay: Scalar | float = 0.0
) -> Grid:
    """Return w(t) at infinite aspect ratio, where coordinates do not interact, eq. (dmft_inf_delta).

    Integrated in the mirror coordinate, w = alpha^2 e^(-lambda t) sinh(theta), theta' = w* - w, to ten digits.

    Examples
    --------
    >>> times, w_star = jnp.linspace(0.0, 1e3, 801), jnp.array([1.0, 0.05, 0.0])
    >>> w = infinite_data_weights(times, w_star, jnp.array(0.1), jnp.array(0.1))
    >>> [round(float(x), 4) for x in w[-1]]
    [0.9, 0.0, 0.0]
    """
    log_scale = 2.0 * jnp.log(jnp.asarray(init_scale, dtype=jnp.float64))
    decay = jnp.asarray(weight_decay, dtype=jnp.float64)

    def weight(t: Scalar, theta: Scalar) -> Scalar:
        return scaled_sinh(log_scale - decay * t, theta)

    def one(target: Scalar) -> Times:
        drift = lambda t, theta, _: target - weight(t, theta)
        # The flow contracts at the rate alpha^2 e^(-lambda t) cosh(theta): stiff, so implicit.
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(drift),
            diffrax.Kvaerno5(),
            times[0],
            times[-1],
            dt0=1e-3 / (1.0 + scaled_cosh(log_scale, jnp.zeros(()))),
            y0=jnp.zeros(()),
            saveat=diffrax.SaveAt(ts=times),
            stepsize_controller=diffrax.PIDController(rtol=RTOL, atol=RTOL),
            max_steps=100_000,
        )
        return jax.vmap(weight)(times, solution.ys)  # pyright: ignore[reportArgumentType]

    return jax.vmap(one, out_axes=1)(w_star)
