"""Averages over soft thresholds of a Gaussian channel, in closed form."""

import jax.numpy as jnp
from jax.scipy.special import ndtr
from jaxtyping import Array, Float

from ..types import Scalar
from .channel import Channel, PerStratum


def active_share(channel: Channel, threshold: Scalar) -> Scalar:
    """Return P(s |x| > threshold)."""
    own = threshold / channel.variance
    return channel.probability @ (channel.above(own) + channel.below(-own))


def mean_square(channel: Channel, threshold: Scalar) -> Scalar:
    """Return E[s (w - w*)^2] for w the soft threshold of x at threshold/s."""
    p, m, s, share, left_over, variance = channel
    threshold = threshold / variance
    # w - E[w*|x] = slope (x - m) + offset on the three pieces x > c, x < -c and between
    upper = _piece(1.0 - share, -threshold, (threshold - m) / s, jnp.full_like(m, jnp.inf), s)
    lower = _piece(1.0 - share, threshold, jnp.full_like(m, -jnp.inf), (-threshold - m) / s, s)
    between = _piece(-share, -m, (-threshold - m) / s, (threshold - m) / s, s)
    return (p * variance) @ (upper + lower + between + left_over)


def _piece(slope: PerStratum, offset: PerStratum, low: PerStratum, high: PerStratum, s: PerStratum) -> PerStratum:
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
