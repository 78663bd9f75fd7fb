"""Where a curve is a power of its argument, and where not: local slopes in logarithms, ranges, and crossovers.

A slope is that of a parabola fitted to the logarithms in a window around each point, so that a slow change of the slope
does not shift it. A range on which slopes agree, up to their errors and a tolerance, is a power law; a slope
of 0 a plateau. What lies between two ranges is neither, and no exponent is given for it.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

Values = Float[np.ndarray, "points"]
FEWEST = 4
"""Points in a window: a parabola has three numbers, and one is left to judge it."""
ROUNDING = 1e-6
"""Of logarithms, by which a point at the edge of a window may be outside of it."""


class Slopes(NamedTuple):
    """d log(value)/d log(x) at each point, with a standard error; NaN where a window has too few points."""

    slope: Values
    stderr: Values


class Power(NamedTuple):
    """A range on which the value is prefactor x^exponent."""

    start: float
    stop: float
    exponent: float
    stderr: float
    """Of the points' own errors, and of how much local slopes vary over the range."""
    prefactor: float

    def at(self, x: Values) -> Values:
        """Return the power at some points, in the range or beyond."""
        return self.prefactor * x**self.exponent


def local_slopes(x: Values, value: Values, stderr: Values, *, window: float) -> Slopes:
    """Return slopes in windows of a number of decades; at the ends windows are one-sided and as wide.

    Examples
    --------
    >>> x = np.geomspace(1.0, 100.0, 30)
    >>> found = local_slopes(x, 3.0 * x**-1.5, np.zeros(30), window=0.5)
    >>> bool(np.allclose(found.slope, -1.5))
    True
    """
    u, y, error = np.log10(x), np.log10(value), stderr / (value * np.log(10.0))
    slope, spread, norm, jitter = np.full((4, len(x)), np.nan)
    for i in range(len(x)):
        low = np.clip(u[i] - window / 2.0, u[0], max(u[-1] - window, u[0]))
        inside = (u >= low - ROUNDING) & (u <= low + window + ROUNDING)
        if inside.sum() < FEWEST:
            continue
        v = u[inside] - u[i]
        columns = np.stack([np.ones_like(v), v, v**2], axis=1)
        fit = np.linalg.pinv(columns)
        left = y[inside] - columns @ (fit @ y[inside])
        slope[i], spread[i] = fit[1] @ y[inside], np.sqrt(fit[1] ** 2 @ error[inside] ** 2)
        norm[i], jitter[i] = np.linalg.norm(fit[1]), np.sqrt(left @ left / (len(v) - 3))
    if not np.isfinite(jitter).any():
        return Slopes(slope, spread)
    # Points may jitter more than they say. The median: next to a crossover what is left is no jitter.
    return Slopes(slope, np.maximum(spread, norm * np.nanmedian(jitter)))


def find_powers(
    x: Values, value: Values, stderr: Values, slopes: Slopes, *, tolerance: float, decades: float
) -> list[Power]:
    """Return the ranges of at least so many decades on which slopes stay within a tolerance of each other.

    The longest is taken first, then the longest of what is left on either side.

    Examples
    --------
    >>> x, none = np.geomspace(1e-2, 1e6, 160), np.zeros(160)
    >>> both = 1.0 / (1.0 + x / 100.0)  # a plateau, then 1/x
    >>> found = find_powers(x, both, none, local_slopes(x, both, none, window=0.5), tolerance=0.02, decades=1.0)
    >>> [round(one.exponent, 2) for one in found]
    [-0.0, -1.0]
    """
    if len(x) < FEWEST:
        return []
    first, last = _longest(np.log10(x), slopes, tolerance)
    if last < 0 or np.log10(x[last] / x[first]) < decades - 1e-9:
        return []
    inner = slice(first, last + 1)
    cut = lambda part: find_powers(
        x[part], value[part], stderr[part], Slopes(*(s[part] for s in slopes)), tolerance=tolerance, decades=decades
    )
    own = _fit(x[inner], value[inner], stderr[inner], Slopes(*(s[inner] for s in slopes)))
    return [*cut(slice(0, first)), own, *cut(slice(last + 1, None))]


def crossover(before: Power, after: Power) -> float:
    """Return where two powers meet; the middle of the gap between them if they do not meet in it.

    Examples
    --------
    >>> round(crossover(Power(1.0, 10.0, 0.0, 0.0, 1.0), Power(1e3, 1e4, -1.0, 0.0, 100.0)), 6)
    100.0
    """
    middle = float(np.sqrt(before.stop * after.start))
    if before.exponent == after.exponent:
        return middle
    with np.errstate(over="ignore"):
        met = (before.prefactor / after.prefactor) ** (1.0 / (after.exponent - before.exponent))
    return float(met) if before.stop <= met <= after.start else middle


def _longest(u: Values, slopes: Slopes, tolerance: float) -> tuple[int, int]:
    """Return the ends of the longest run of points whose slopes, less their errors, lie within 2 tolerances."""
    best = (0, -1, -1.0)
    for first in range(len(u)):
        low, high = -np.inf, np.inf
        for last in range(first, len(u)):
            if not np.isfinite(slopes.slope[last]):
                break
            margin = tolerance + slopes.stderr[last]
            low, high = max(low, slopes.slope[last] - margin), min(high, slopes.slope[last] + margin)
            if low > high:
                break
            if u[last] - u[first] > best[2]:
                best = (first, last, u[last] - u[first])
    return best[0], best[1]


def _fit(x: Values, value: Values, stderr: Values, slopes: Slopes) -> Power:
    """Fit a line to logarithms; its error is that of the points, and the standard deviation of local slopes."""
    u, y, error = np.log10(x), np.log10(value), stderr / (value * np.log(10.0))
    rows = np.linalg.pinv(np.stack([np.ones_like(u), u], axis=1))
    level, exponent = rows @ y
    return Power(
        float(x[0]),
        float(x[-1]),
        float(exponent),
        float(np.hypot(np.sqrt(rows[1] ** 2 @ error**2), slopes.slope.std())),
        float(10.0**level),
    )
