"""Roots of monotone functions of one number."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import optimistix as optx
from jax import lax
from jaxtyping import Array, Int

from ..types import Scalar


def monotone_root(
    function: Callable[[Scalar, Any], Scalar],
    lower: Scalar,
    upper: Scalar,
    given: Any = None,
    *,
    rising: bool = True,
    tolerance: float = 1e-14,
    max_steps: int = 128,
) -> Scalar:
    """Return the root between two bounds by bisection, NaN if there is none; derivatives by ``given`` are implicit.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> round(float(monotone_root(lambda x, c: x**2 - c, jnp.array(0.0), jnp.array(2.0), jnp.array(2.0))), 6)
    1.414214
    >>> float(monotone_root(lambda x, c: x**2 - c, jnp.array(0.0), jnp.array(1.0), jnp.array(2.0)))
    nan
    """
    solver = optx.Bisection(rtol=tolerance, atol=tolerance, flip=not rising)
    options = {"lower": lower, "upper": upper}
    middle = (lower + upper) / 2.0
    root = optx.root_find(function, solver, middle, given, options=options, max_steps=max_steps, throw=False).value
    below, above = (function(bound, given) if rising else -function(bound, given) for bound in (lower, upper))
    return jnp.where((below <= 0.0) & (above >= 0.0), root, jnp.nan)


def near_root(function: Callable[[Scalar], Scalar], lower: Scalar, upper: Scalar, *, halvings: int) -> Scalar:
    """Return a rising function's root to ``2**-halvings`` of the distance of two bounds, for a first guess.

    The nearer bound if there is no root between them. The function is in the program once: nested, a solver's bisection
    has it a dozen times.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> float(near_root(lambda x: x - 0.3, jnp.array(0.0), jnp.array(1.0), halvings=2))
    0.375
    """

    def halve(_: Int[Array, ""], bounds: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        lower, upper = bounds
        middle = (lower + upper) / 2.0
        below = function(middle) < 0.0
        return jnp.where(below, middle, lower), jnp.where(below, upper, middle)

    lower, upper = lax.fori_loop(0, halvings, halve, (lower, upper))
    return (lower + upper) / 2.0
