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
    # For small x the exponentials cancel, for large x sinh overflows before the product does.
    small = jnp.abs(x) < 1.0
    near = jnp.exp(log_scale) * jnp.sinh(jnp.where(small, x, 0.0))
    far = 0.5 * (jnp.exp(log_scale + x) - jnp.exp(log_scale - x))
    return jnp.where(small, near, far)


def scaled_cosh(log_scale: Values, x: Values) -> Values:
    """``exp(log_scale) cosh(x)``, finite whenever the product is."""
    return 0.5 * (jnp.exp(log_scale + x) + jnp.exp(log_scale - x))


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
