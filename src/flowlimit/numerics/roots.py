"""Roots of functions of one number or two, with implicit derivatives of every order.

Short loops around `jax.lax.custom_root`: a function is in the program once or twice, where a general solver has
it up to a dozen times when solvers are nested, and most of what a closed form costs is its compilation.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from ..types import Scalar

Two = Float[Array, "2"]
Bounds = tuple[Scalar, Scalar]
Iterate = tuple[Two, Bool[Array, ""], Int[Array, ""]]
"""Where Newton's method is, whether it still moves, and after how many steps."""


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
    rises = lambda x: function(x, given) if rising else -function(x, given)
    bounds = lax.stop_gradient((lower, upper))

    def solve(rises: Callable[[Scalar], Scalar], middle: Scalar) -> Scalar:
        def apart(carry: tuple[Bounds, Int[Array, ""]]) -> Bool[Array, ""]:
            (lower, upper), steps = carry
            return (upper - lower > tolerance * (1.0 + jnp.abs(lower))) & (steps < max_steps)

        (lower, upper), _ = lax.while_loop(
            apart, lambda carry: (_half(carry[0], rises(_middle(carry[0]))), carry[1] + 1), (bounds, jnp.array(0))
        )
        return _middle((lower, upper))

    root = lax.custom_root(rises, _middle(bounds), solve, lambda slope, y: y / slope(jnp.ones_like(y)))
    below, above = lax.map(rises, jnp.stack(bounds))
    return jnp.where((below <= 0.0) & (above >= 0.0), root, jnp.nan)


def near_root(
    function: Callable[[Scalar], tuple[Scalar, Any]], lower: Scalar, upper: Scalar, *, halvings: int, found: Any = None
) -> tuple[Scalar, Any]:
    """Return a rising function's root to ``2**-halvings`` of the distance of two bounds, for a first guess.

    The nearer bound if there is no root between them. The function returns its value and what else it found; that of
    the last call is returned, too. ``found`` is of the same kind.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> root, last = near_root(lambda x: (x - 0.3, x), jnp.array(0.0), jnp.array(1.0), halvings=2, found=jnp.array(0.0))
    >>> float(root), float(last)
    (0.375, 0.25)
    """

    def halve(_: Any, carry: tuple[Bounds, Any]) -> tuple[Bounds, Any]:
        value, found = function(_middle(carry[0]))
        return _half(carry[0], value), found

    bounds, found = lax.fori_loop(0, halvings, halve, ((lower, upper), found))
    return _middle(bounds), found


def _middle(bounds: Bounds) -> Scalar:
    return (bounds[0] + bounds[1]) / 2.0


def _half(bounds: Bounds, value: Scalar) -> Bounds:
    """Return the half that has a rising function's root; ``value`` is that in the middle."""
    below, middle = value < 0.0, _middle(bounds)
    return jnp.where(below, middle, bounds[0]), jnp.where(below, bounds[1], middle)


def newton_root(function: Callable[[Two], Two], start: Two, *, tolerance: float, max_steps: int) -> Two:
    """Return a root of two equations near ``start`` by Newton's method; where it does not converge, its last iterate.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> circle_and_line = lambda x: jnp.array([x @ x - 2.0, x[0] - x[1]])
    >>> newton_root(circle_and_line, jnp.array([2.0, 1.0]), tolerance=1e-13, max_steps=20).round(6).tolist()
    [1.0, 1.0]
    """

    def solve(function: Callable[[Two], Two], start: Two) -> Two:
        def step(carry: Iterate) -> Iterate:
            x, _, steps = carry
            J, value = jax.jacfwd(lambda x: (function(x),) * 2, has_aux=True)(x)
            dx = _solve_two(J, value)
            moving = jnp.any(jnp.abs(dx) > tolerance * (1.0 + jnp.abs(x)))  # False at a NaN
            return x - dx, moving, steps + 1

        start_here = (start, jnp.array(True), jnp.array(0))
        return lax.while_loop(lambda carry: carry[1] & (carry[2] < max_steps), step, start_here)[0]

    tangent = lambda slope, y: _solve_two(jax.jacfwd(slope)(jnp.zeros_like(y)), y)
    return lax.custom_root(function, lax.stop_gradient(start), solve, tangent)


def _solve_two(J: Float[Array, "2 2"], y: Two) -> Two:
    """Solve two linear equations by Cramer's rule."""
    determinant = J[0, 0] * J[1, 1] - J[0, 1] * J[1, 0]
    return jnp.stack([J[1, 1] * y[0] - J[0, 1] * y[1], J[0, 0] * y[1] - J[1, 0] * y[0]]) / determinant
