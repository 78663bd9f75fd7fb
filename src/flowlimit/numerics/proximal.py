"""Proximal operators of the penalties that flows of diagonal networks minimise."""

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from .stable import scaled_cosh, scaled_sinh

NEWTON_STEPS = 12

Points = Float[Array, "*points"]
Scale = Float[Array, "..."] | float
"""Of all points, or of each."""


def soft_threshold(x: Points, threshold: Scale) -> Points:
    """Shrink the size of x by a threshold, down to 0: the proximal operator of the l1 norm.

    Examples
    --------
    >>> soft_threshold(jnp.array([-3.0, 0.5, 2.0]), 1.0).tolist()
    [-2.0, 0.0, 1.0]
    """
    return jnp.sign(x) * jnp.maximum(jnp.abs(x) - threshold, 0.0)


@jax.jit
def mirror_threshold(x: Points, log_scale: Scale, strength: Scale) -> Points:
    """Return y with e^log_scale sinh(y) + strength y = x.

    w = e^log_scale sinh(y) is the paper's f(x; a, b), the inverse of w + b asinh(w/a), eq. (fix_case3): the proximal
    operator of the norm J_alpha for a = alpha^2. In y nothing overflows, for any a.

    Examples
    --------
    >>> y = mirror_threshold(jnp.array(2.0), 0.0, 1.0)
    >>> bool(jnp.isclose(jnp.sinh(y) + y, 2.0))
    True
    """
    x, log_scale, strength = jnp.broadcast_arrays(jnp.asarray(x), jnp.asarray(log_scale), jnp.asarray(strength))
    y = _from_above(*map(lax.stop_gradient, (jnp.abs(x), log_scale, strength))) * jnp.sign(lax.stop_gradient(x))
    # One more step, in which only the residual is differentiated: that is the implicit function theorem.
    residual = scaled_sinh(log_scale, y) + strength * y - x
    slope = lax.stop_gradient(scaled_cosh(log_scale, y) + strength)
    return y - residual / slope


def _from_above(size: Points, log_scale: Points, strength: Points) -> Points:
    """Newton's method on a convex rising function from above the root: every step falls towards it."""
    a, tiny = jnp.exp(log_scale), jnp.finfo(size.dtype).tiny
    start = jnp.minimum(size / jnp.maximum(strength, tiny), jnp.arcsinh(size / a))
    step = lambda _, y: y - (scaled_sinh(log_scale, y) + strength * y - size) / (scaled_cosh(log_scale, y) + strength)
    return lax.fori_loop(0, NEWTON_STEPS, step, start)
