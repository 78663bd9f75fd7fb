"""A choice among models and stopping times: estimated test errors in time, and how the models compare."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from ..problem.checks import instance
from ..results import Selection
from ..results.selection import BARS
from .curves import COLOURS, axis_scale, draw_band
from .labels import result_labels
from .panels import panels_of

MOST_BANDS = len(COLOURS)
"""More models than these are drawn as lines without bands, in grey but for the choice."""
GREY = "0.6"


def selection(selected: Selection, *, ax: Any = None) -> np.ndarray:
    """Draw what `fl.select` found: estimated test errors in time, and each model at its own best time.

    On the left a line for each model, with a band of two standard errors and a mark at the choice. On the right, each
    model's smallest error over that of the choice, with two standard errors of that ratio: filled marks are not told
    apart from the choice.

    Parameters
    ----------
    selected
        What `fl.select` returned.
    ax
        Two axes to draw in; a new figure unless given.

    Returns
    -------
    Array of the axes.

    Examples
    --------
    >>> import numpy as np, flowlimit as fl
    >>> X = np.random.default_rng(0).normal(size=(60, 80)) / 80**0.5
    >>> models = [fl.DiagonalLinear(0.2), fl.DiagonalLinear(1.0)]
    >>> selected = fl.select(models, fl.Dataset(X, X[:, :5].sum(axis=1)), fl.GradientDescent(0.1, num_steps=30))
    >>> axes = fl.plot.selection(selected)
    >>> axes[1].get_xlabel()
    'test error over that of the choice'
    """
    selected = instance("selected", Selection, "fl.select(...)")(selected)
    if selected.choice is None:
        raise ValueError("selected: given a selection without a choice: all models failed")
    if ax is None:
        height = max(3.0, 1.2 + 0.24 * len(selected.estimates))
        _, ax = plt.subplots(1, 2, figsize=(9.0, height), layout="constrained", width_ratios=(1.25, 1.0))
    panels = panels_of(ax, ["test error in time", "models"])
    _draw_curves(panels[0], selected)
    _draw_ratios(panels[1], selected)
    return panels


def _colour(selected: Selection, index: int) -> str:
    if len(selected.estimates) <= MOST_BANDS:
        return COLOURS[index % len(COLOURS)]
    assert selected.choice is not None
    return COLOURS[0] if index == selected.choice.place else GREY


def _draw_curves(panel: Axes, selected: Selection) -> None:
    choice = selected.choice
    assert choice is not None
    panel.set_xscale("log")
    panel.set_yscale(axis_scale([selected.ratio.ravel()]))
    for index, one in enumerate(selected.estimates):
        if not np.isfinite(selected.ratio[index]).any():
            continue
        if len(selected.estimates) <= MOST_BANDS:
            draw_band(panel, one, "test_error", "", index)
        else:
            after = one.times > 0.0
            chosen = index == choice.place
            style: dict[str, Any] = {"linewidth": 1.6 if chosen else 0.7, "zorder": 3.0 if chosen else 2.0}
            panel.plot(one.times[after], one.test_error[after], color=_colour(selected, index), **style)
    if choice.time > 0.0:
        style: dict[str, Any] = {"marker": "o", "markersize": 6.0, "markeredgecolor": "black", "zorder": 4.0}
        panel.plot([choice.time], [choice.test_error], color=_colour(selected, choice.place), **style)
    panel.set(xlabel="time $t$", ylabel="estimated test error")
    if panel.get_yscale() == "linear":
        panel.set_ylim(bottom=0.0)


def _draw_ratios(panel: Axes, selected: Selection) -> None:
    assert selected.choice is not None
    names = result_labels(selected.estimates)
    for index, one in enumerate(selected.estimates):
        if one.stopping is None or not np.isfinite(selected.ratio[index]).any():
            continue
        at = int(np.abs(selected.times - one.stopping.time).argmin())
        ratio, stderr = selected.ratio[index, at], selected.ratio_stderr[index, at]
        bar = np.abs(ratio * np.expm1(BARS * stderr / ratio * np.array([[-1.0], [1.0]])))  # of the logarithm
        colour, chosen = _colour(selected, index), index == selected.choice.place
        style: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 6.0, "capsize": 2.5, "linewidth": 1.2}
        style |= {"markerfacecolor": colour if selected.within[index, at] else "white"}
        style |= {"markeredgecolor": "black" if chosen else colour}
        panel.errorbar([ratio], [index], xerr=bar, **style)
    panel.axvline(1.0, color="0.7", linewidth=0.8, zorder=0.0)
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(len(names) - 0.5, -0.5)
    panel.set(xlabel="test error over that of the choice")
