"""The law of w(t): the limit's paths over a histogram of runs."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from ..problem.checks import instance, number
from ..results import Limit, Runs
from .curves import COLOURS

BINS = 60


def law(limit: Limit, time: float, runs: Runs | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the law of the weights at a time: a line for the limit, bars for runs if they kept weights there.

    Examples
    --------
    >>> import flowlimit as fl
    >>> task = fl.Regression(2.0, noise_var=0.1, target=fl.Normal())
    >>> problem = fl.Linear(), task, fl.GradientDescent(0.2, num_steps=20)
    >>> fl.plot.law(fl.solve_dmft(*problem), time=4.0).get_xlabel()
    'weight $w(4)$'
    """
    instance("limit", Limit, "fl.solve_dmft(...)")(limit)
    time = float(number("time", at_least=0.0)(time))
    if runs is not None:
        instance("runs", Runs, "fl.simulate(...)")(runs)
    if ax is not None:
        instance("ax", Axes, "plt.gca()")(ax)
    if limit.paths is None:
        raise ValueError(f"limit: given one without paths ({limit.unkept})")
    ax = plt.subplots(figsize=(4.2, 3.0), layout="constrained")[1] if ax is None else ax
    w, probability = limit.paths.weights_at(time), limit.paths.probability
    finite = _run_weights(runs, time)
    everything = w if finite is None else np.r_[w, finite]
    bins = np.linspace(everything.min(), everything.max() + 1e-12, BINS + 1)
    if finite is not None:
        ax.hist(finite, bins=bins, density=True, color=COLOURS[0], alpha=0.35, label=f"$d = {_dim(runs)}$")
    height, _ = np.histogram(w, bins=bins, weights=probability, density=True)
    ax.stairs(height, bins, color="black", linewidth=1.3, label="limit")
    ax.set_yscale("log")  # a sparse target puts most weights near 0, and the others matter
    ax.set_xlabel(f"weight $w({time:g})$")
    ax.set_ylabel("density")
    ax.legend(frameon=False, fontsize="small")
    return ax


def _run_weights(runs: Runs | None, time: float) -> np.ndarray | None:
    if runs is None:
        return None
    if runs.weights is None or runs.weights_times is None:
        raise ValueError(f"runs: given without weights; simulate with weights_at=[{time:g}]")
    index = int(np.abs(runs.weights_times - time).argmin())
    if not np.isclose(runs.weights_times[index], time, rtol=1e-6):
        kept = ", ".join(f"{t:g}" for t in runs.weights_times)
        raise ValueError(f"time: given {time:g}, the runs kept weights at {kept}; simulate with weights_at=[{time:g}]")
    return runs.weights[:, index].ravel()


def _dim(runs: Runs | None) -> str:
    return "?" if runs is None else str(runs.provenance.get("problem", {}).get("dim", "?"))
