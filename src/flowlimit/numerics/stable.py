"""Functions written so that neither the value nor its derivative overflows or cancels."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..types import Scalar

Values = Float[Array, "..."]


def scaled_sinh(log_scale: Values, x: Values) -> Values:
    """``exp(log_scale) sinh(x)``, finite whenever the product is.

    Examples
    --------
    >>> float(scaled_sinh(jnp.array(-1000.0), jnp.array(1000.0)))
    0.5
    """
    sign, half, rest = _halves(log_scale, x)
    return -sign * half * rest


def scaled_cosh(log_scale: Values, x: Values) -> Values:
    """``exp(log_scale) cosh(x)``, finite whenever the product is."""
    _, half, rest = _halves(log_scale, x)
    return half * (2.0 + rest)


def _halves(log_scale: Values, x: Values) -> tuple[Values, Values, Values]:
    """Return the sign of x, exp(log_scale + |x|)/2 and exp(-2|x|) - 1: nothing of these cancels or overflows.

    Two exponentials for value and derivative of both functions: they are most of what a path costs. The sign is never
    0, as |x| has a derivative at 0, too.
    """
    sign = jnp.where(x < 0.0, -1.0, 1.0)
    return sign, 0.5 * jnp.exp(log_scale + sign * x), jnp.expm1(-2.0 * sign * x)


def power_difference(x: Scalar, y: Scalar, power: int) -> Scalar:
    """``x^power - y^power`` without cancellation, and exactly 0 where x = y.

    Examples
    --------
    >>> float(power_difference(jnp.array(3.0), jnp.array(2.0), 3))
    19.0
    """
    return (x - y) * sum(x ** (power - 1 - i) * y**i for i in range(power))


def smooth_step(x: Scalar) -> Scalar:
    """Infinitely differentiable step: 0 below 0, 1 above 1, e^{-1/x}/(e^{-1/x} + e^{-1/(1-x)}) between.

    Examples
    --------
    >>> [float(smooth_step(jnp.array(x))) for x in (-1.0, 0.5, 2.0)]
    [0.0, 0.5, 1.0]
    """
    # e^{-1/x} underflows for x < 1/745, so clipping there changes nothing and keeps derivatives finite.
    inside = jnp.clip(x, 1.0 / 745.0, 1.0 - 1.0 / 745.0)
    return jnp.where(x <= 0.0, 0.0, jnp.where(x >= 1.0, 1.0, jax.nn.sigmoid(1.0 / (1.0 - inside) - 1.0 / inside)))


def truncate(x: Scalar, bound: Scalar) -> Scalar:
    """The paper's truncation eta_M(x) = (1 - eta(|x| - M)) x: x up to M = ``bound``, 0 from M + 1 on.

    Examples
    --------
    >>> [float(truncate(jnp.array(x), jnp.array(2.0))) for x in (-1.5, 2.5, 4.0)]
    [-1.5, 1.25, 0.0]
    """
    return (1.0 - smooth_step(jnp.abs(x) - bound)) * x
