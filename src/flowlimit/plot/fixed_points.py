"""The law of w(infinity), over histograms of finite-size minimisers."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from ..asymptotics.fixed_point import FixedPoint
from ..asymptotics.minimizer import Minimizer
from ..problem.checks import instance
from .curves import COLOURS

BINS, POINTS = 80, 2000
SIGMAS, LOWEST = 6.0, 1e-3


def fixed_point_law(point: FixedPoint, *found: Minimizer, ax: Axes | None = None) -> Axes:
    r"""Draw the density of w(infinity), its atom at 0 as an arrow, over bars for minimisers if given.

    The arrow's height is the atom's probability on the right-hand axis; bars leave out weights that are exactly 0.

    Examples
    --------
    >>> import flowlimit as fl
    >>> point = fl.fixed_point(fl.DiagonalLinear(0.3), fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1)))
    >>> fl.plot.fixed_point_law(point).get_xlabel()
    'weight $w(\\infty)$'
    """
    instance("point", FixedPoint, "fl.fixed_point(model, task)")(point)
    for one in found:
        instance("found", Minimizer, "fl.minimizer(model, dataset)")(one)
    if ax is not None:
        instance("ax", Axes, "plt.gca()")(ax)
    if point.case == "threshold":
        raise ValueError("point: given one at aspect ratio 1, where w(infinity) has no law; needs another aspect_ratio")
    ax = plt.subplots(figsize=(4.2, 3.0), layout="constrained")[1] if ax is None else ax
    weights = np.concatenate([one.w for one in found]) if found else np.zeros(0)
    low, high = _range(point, weights)
    if len(weights):
        bins = np.linspace(low, high, BINS + 1)
        moved = weights[weights != 0.0] if point.case == "lasso" else weights
        height = np.histogram(moved, bins)[0] / (len(weights) * np.diff(bins))
        ax.stairs(height, bins, fill=True, color=COLOURS[0], alpha=0.35, label=f"$d = {len(found[0].w)}$")
    w = np.linspace(low, high, POINTS)
    ax.plot(w, np.asarray(point.density(w)), color="black", linewidth=1.3, label="theory")
    ax.set_yscale("log")  # a sparse target puts most weights near 0, and the others matter
    ax.set_ylim(LOWEST, None)
    if point.case == "lasso":
        _draw_atom(ax, float(point.atom), weights)
    ax.set_xlabel(r"weight $w(\infty)$")
    ax.set_ylabel("density")
    ax.set_title(point.case, fontsize="medium")
    ax.legend(frameon=False, fontsize="small")
    return ax


def _range(point: FixedPoint, weights: np.ndarray) -> tuple[float, float]:
    """Return where the density is worth drawing, or weights are."""
    channel = point.channel
    live = np.asarray(channel.probability) > 0.0
    mean, std = np.asarray(channel.mean)[live], np.asarray(channel.std)[live]
    wide = np.linspace((mean - SIGMAS * std).min(), (mean + SIGMAS * std).max(), POINTS)
    seen = wide[np.asarray(point.density(wide)) > LOWEST]
    return float(min([*seen[:1], *weights])), float(max([*seen[-1:], *weights]))


def _draw_atom(ax: Axes, probability: float, weights: np.ndarray) -> None:
    second = ax.twinx()
    second.set_ylim(0.0, 1.0)
    second.set_ylabel("probability of 0")
    second.annotate("", (0.0, probability), (0.0, 0.0), arrowprops={"arrowstyle": "-|>", "color": "black", "lw": 1.3})
    if len(weights):
        second.plot([0.0], [np.mean(weights == 0.0)], "o", color=COLOURS[0], markersize=5)
