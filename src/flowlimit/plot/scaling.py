"""Curves with the powers found on them, over their local slopes."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from ..problem.checks import instance, names_of
from ..verbs.scaling import Scaling
from .curves import COLOURS
from .labels import axis_name

AXES = {"time": "time $t$", "aspect_ratio": "aspect ratio $n/d$", "dim": "dim $d$"}


def scaling(
    *found: Scaling, labels: Sequence[str] | None = None, expected: Sequence[float] = (), ax: Any = None
) -> np.ndarray:
    """Draw curves with their powers, and below them local slopes with bands of two standard errors.

    Thick stretches are ranges on which a power holds; dotted lines are crossovers.

    Parameters
    ----------
    found
        What `fl.scaling` returned, all along one thing.
    labels
        Names for the legend.
    expected
        Exponents that theory says, drawn as lines among the slopes.
    ax
        Two axes to draw in; a new figure unless given.

    Returns
    -------
    Array of the two axes.

    Examples
    --------
    >>> import numpy as np, flowlimit as fl
    >>> task = fl.Regression(0.01, noise_var=0.0, features=fl.PowerLaw(1000, capacity=2.0, source=2.0))
    >>> points = np.geomspace(0.01, 0.1, 8)
    >>> found = fl.scaling(fl.fixed_point, fl.DiagonalLinear(1e3), task, along="aspect_ratio", at=points)
    >>> fl.plot.scaling(found)[1].get_ylabel()
    'local slope'
    """
    if not found:
        raise ValueError("found: given none, needs at least one, e.g. fl.plot.scaling(fl.scaling(limit))")
    for one in found:
        instance("found", Scaling, "fl.scaling(limit)")(one)
    if len({one.along for one in found}) > 1:
        raise ValueError(f"found: given some along {' and '.join({one.along for one in found})}, needs one of them")
    names = None if labels is None else names_of("labels", labels, "['linear', 'network']")
    if names is not None and len(names) != len(found):
        raise ValueError(f"labels: given {len(names)}, needs {len(found)}, one for each")
    if ax is None:
        _, ax = plt.subplots(2, 1, figsize=(5.0, 5.2), sharex=True, height_ratios=(1.5, 1.0), layout="constrained")
    above, below = np.ravel(ax)
    for index, one in enumerate(found):
        label = None if names is None else names[index]
        share = (index + 0.5) / len(found)
        _draw(above, below, one, label, COLOURS[index % len(COLOURS)], share)
    for exponent in expected:
        below.axhline(exponent, color="black", linewidth=0.8, linestyle="--")
    first = found[0]
    above.set(xscale="log", yscale="log", ylabel=axis_name(first.name) + (" less its end" if first.less else ""))
    below.set(xscale="log", xlabel=AXES[first.along], ylabel="local slope")
    if names is not None:
        above.legend(frameon=False, fontsize="small")
    return np.array([above, below])


def _draw(above: Axes, below: Axes, one: Scaling, label: str | None, colour: str, share: float) -> None:
    above.plot(one.x, one.value, color=colour, linewidth=1.0, label=label)
    for power in one.powers:
        ends = np.array([power.start, power.stop])
        above.plot(ends, power.at(ends), color=colour, linewidth=3.5, alpha=0.35, solid_capstyle="butt")
        within = ends[:1] * (ends[1:] / ends[:1]) ** share  # labels of curves that are close stand side by side
        place = (within[0], power.at(within)[0])
        above.annotate(
            f"{power.exponent:.2f}", place, (3, 3), textcoords="offset points", color=colour, fontsize="small"
        )
    below.plot(one.x, one.slope, color=colour, linewidth=1.0)
    wide = 2.0 * one.slope_stderr
    below.fill_between(one.x, one.slope - wide, one.slope + wide, color=colour, alpha=0.2, linewidth=0.0)
    for x in one.crossovers:
        for panel in (above, below):
            panel.axvline(x, color=colour, linewidth=0.8, linestyle=":")
