"""Case (i), weight decay > 0: soft thresholding, with closed forms for all Gaussian averages."""

import jax.numpy as jnp
from jax.scipy.special import ndtr
from jaxtyping import Array, Float

from ..problem.tasks import Regression
from ..types import Scalar
from .channel import Channel, PerStratum, make_channel

Pair = tuple[Scalar, Scalar]


def lasso_errors(task: Regression, weight_decay: Scalar, log_noise: Scalar, log_threshold: Scalar) -> Pair:
    """Return E[(w - w*)^2], and 1 - P(w != 0)/delta - lambda/threshold, zero for threshold = (1 + chi_w) lambda."""
    threshold = jnp.exp(log_threshold)
    channel = make_channel(task.target, jnp.exp(log_noise))
    active = channel.probability @ (channel.above(threshold) + channel.below(-threshold))
    return mean_square(channel, threshold), 1.0 - active / task.aspect_ratio - weight_decay / threshold


def lasso_bracket(task: Regression, weight_decay: Scalar, log_noise: Scalar) -> Pair:
    """Return bounds of log threshold: lambda below; above, Chebyshev's bound makes at most delta/2 active."""
    second = task.target.second_moment + jnp.exp(2.0 * log_noise)
    above = jnp.maximum(2.0 * weight_decay, jnp.sqrt(2.0 * second / task.aspect_ratio))
    return jnp.log(weight_decay), jnp.log(above) + 1e-3


def mean_square(channel: Channel, threshold: Scalar) -> Scalar:
    """Return E[(w - w*)^2] for w the soft threshold of x."""
    p, m, s, share, left_over = channel
    # w - E[w*|x] = slope (x - m) + offset on the three pieces x > c, x < -c and between
    upper = _piece(1.0 - share, -threshold, (threshold - m) / s, jnp.full_like(m, jnp.inf), s)
    lower = _piece(1.0 - share, threshold, jnp.full_like(m, -jnp.inf), (-threshold - m) / s, s)
    between = _piece(-share, -m, (-threshold - m) / s, (threshold - m) / s, s)
    return p @ (upper + lower + between + left_over)


def _piece(
    slope: PerStratum, offset: Scalar | PerStratum, low: PerStratum, high: PerStratum, s: PerStratum
) -> PerStratum:
    """Return E[(slope s u + offset)^2; low < u < high] for a standard normal u."""
    mass = jnp.where(low + high > 0.0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    first = _pdf(low) - _pdf(high)
    second = mass + _edge(low) - _edge(high)
    return (slope * s) ** 2 * second + 2.0 * slope * s * offset * first + offset**2 * mass


def _pdf(u: Float[Array, "strata"]) -> Float[Array, "strata"]:
    return jnp.exp(-0.5 * u**2) / jnp.sqrt(2.0 * jnp.pi)


def _edge(u: Float[Array, "strata"]) -> Float[Array, "strata"]:
    """Return u pdf(u), zero at infinity."""
    finite = jnp.where(jnp.isfinite(u), u, 0.0)
    return jnp.where(jnp.isfinite(u), finite * _pdf(finite), 0.0)
