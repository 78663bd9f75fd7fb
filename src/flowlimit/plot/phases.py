"""Phases on the axes of a curve."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..asymptotics.phases import Phases
from ..problem.checks import instance
from .curves import COLOURS

NAMES = {"lazy": "lazy", "rich_sharp": "rich", "descent": "descent"}
BEFORE = {"lazy": "start", "rich_sharp": "lazy", "descent": "search"}


def shade_phases(phases: Phases, ax: Any) -> None:
    """Shade the phases that theory predicts, name them, and mark detected transitions by dotted lines.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import flowlimit as fl
    >>> task = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    >>> problem = fl.DiagonalLinear(30.0, weight_decay=0.5), task
    >>> runs = fl.simulate(*problem, fl.GradientFlow(40.0), dim=100, trials=2, key=0)
    >>> axes = fl.plot.curves(runs)
    >>> fl.plot.shade_phases(fl.label_phases(runs), axes)
    """
    instance("phases", Phases, "fl.label_phases(runs)")(phases)
    for one in np.ravel(np.asarray(ax, dtype=object)):
        instance("ax", Axes, "fl.plot.curves(runs)")(one)
        left, right = one.get_xlim()
        times = {name: t for name, t in phases.predicted.items() if name in NAMES and left < t < right}
        edges = [left, *times.values(), right]
        labels = [BEFORE[name] for name in list(times)[:1]] + [NAMES[name] for name in times]
        for i, label in enumerate(labels):
            one.axvspan(edges[i], edges[i + 1], color=COLOURS[4 + i % 2], alpha=0.12, linewidth=0.0, zorder=0)
            share = _share(one, edges[i], edges[i + 1])
            one.text(share, 1.01, label, transform=one.transAxes, ha="center", va="bottom", fontsize="small")
        for name in times:
            if np.isfinite(phases.detected[name]):
                one.axvline(phases.detected[name], color="black", linestyle=":", linewidth=1.0)
        one.set_xlim(left, right)


def _share(one: Any, start: float, end: float) -> float:
    """Return where the middle of two times stands, as a share of the axis."""
    to_axes = one.transData + one.transAxes.inverted()
    return float(np.mean([to_axes.transform((t, one.get_ylim()[0]))[0] for t in (start, end)]))
