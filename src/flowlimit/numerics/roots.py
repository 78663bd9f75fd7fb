"""Roots of monotone functions of one number."""

from collections.abc import Callable
from typing import Any

import optimistix as optx

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
    """Return the root between two bounds by bisection; derivatives by ``given`` are implicit.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> round(float(monotone_root(lambda x, c: x**2 - c, jnp.array(0.0), jnp.array(2.0), jnp.array(2.0))), 6)
    1.414214
    """
    solver = optx.Bisection(rtol=tolerance, atol=tolerance, flip=not rising)
    options = {"lower": lower, "upper": upper}
    middle = (lower + upper) / 2.0
    return optx.root_find(function, solver, middle, given, options=options, max_steps=max_steps, throw=False).value
