"""Roots of monotone functions of one number."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
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
    checked: bool = True,
) -> Scalar:
    """Return the root between two bounds by bisection, NaN if there is none; derivatives by ``given`` are implicit.

    Not ``checked``, the bound next to the root is returned where there is none between them: for a first guess.

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
    if not checked:
        return root
    below, above = (function(bound, given) if rising else -function(bound, given) for bound in (lower, upper))
    return jnp.where((below <= 0.0) & (above >= 0.0), root, jnp.nan)
