"""The four kernels of a limit as heat maps."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from ..problem.checks import instance
from ..results import Limit
from .panels import panels_of

TITLES = {"C_w": "$C_w(t, s)$", "C_f": "$C_f(t, s)$", "R_w": "$R_w(t, s)$", "R_f": "$R_f(t, s)$"}


def kernels(limit: Limit, *, ax: np.ndarray | None = None) -> np.ndarray:
    """Draw C_w, C_f, R_w and R_f over (s, t), both on logarithmic axes.

    Examples
    --------
    >>> import flowlimit as fl
    >>> task = fl.Regression(2.0, noise_var=0.1, target=fl.Normal())
    >>> problem = fl.Linear(), task, fl.GradientDescent(0.2, num_steps=20)
    >>> axes = fl.plot.kernels(fl.solve_dmft(*problem))
    >>> axes[0].get_title()
    '$C_w(t, s)$'
    """
    instance("limit", Limit, "fl.solve_dmft(...)")(limit)
    if limit.kernels is None:
        raise ValueError(f"limit: given one without kernels ({limit.unkept})")
    if ax is None:
        _, ax = plt.subplots(1, 4, figsize=(11.0, 2.7), layout="constrained", sharex=True, sharey=True)
    panels = panels_of(ax, list(TITLES))
    times = limit.kernels.times
    after = times > 0.0  # a log axis has no place for the first step
    for name, panel in zip(TITLES, panels, strict=True):
        _draw(panel, times[after], getattr(limit.kernels, name)[np.ix_(after, after)], name)
    panels[0].set_ylabel("$t$")
    return panels


def _draw(panel: Axes, times: np.ndarray, values: np.ndarray, name: str) -> None:
    causal = name.startswith("R")
    shown = np.ma.masked_where(np.triu(np.ones_like(values), 1) > 0, values) if causal else values
    mesh = panel.pcolormesh(times, times, shown, cmap="viridis", shading="nearest", rasterized=True)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_title(TITLES[name])
    panel.set_xlabel("$s$")
    panel.figure.colorbar(mesh, ax=panel, shrink=0.85)
