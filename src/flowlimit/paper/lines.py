"""Curves with error bars, and the two ways they are drawn: markers for runs, a line in its band for the limit."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from ..results.spread import standard_error

Numbers = Float[np.ndarray, "_"]
MARKERS = 18
"""Markers of one curve of runs."""
BAND = 2.0
"""Half width of a band, in standard errors."""


class Line(NamedTuple):
    """One curve with its standard errors."""

    times: Numbers
    value: Numbers
    stderr: Numbers


def mean_line(times: Numbers, trials: Float[np.ndarray, "trials _"]) -> Line:
    """Return the mean of trials with its standard error."""
    return Line(times, trials.mean(axis=0), standard_error(trials))


def draw_runs(panel: Any, x: Numbers, line: Line, shown: Bool[np.ndarray, "_"], *, log: bool, **style: Any) -> None:
    """Draw markers with bars of one standard error, evenly spaced on the axis as it is drawn."""
    place = np.flatnonzero(shown)
    if not len(place):
        return
    scaled = np.log(x[place]) if log else x[place]
    wanted = np.linspace(scaled[0], scaled[-1], MARKERS)
    some = place[np.unique(np.abs(scaled[:, None] - wanted[None]).argmin(axis=0))]
    panel.errorbar(x[some], line.value[some], line.stderr[some], **({"fmt": "o", "markersize": 2.2} | style))


def draw_limit(panel: Any, x: Numbers, line: Line, shown: Bool[np.ndarray, "_"], *, color: str, least: float) -> None:
    """Draw a line in a band of two standard errors, which stays above ``least`` for the sake of a log axis."""
    value, stderr = line.value[shown], line.stderr[shown]
    panel.plot(x[shown], value, color=color)
    low, high = value - BAND * stderr, value + BAND * stderr
    panel.fill_between(x[shown], np.maximum(low, least), high, color=color, alpha=0.25, linewidth=0.0)
