"""Curves in time with their error bars."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from ..problem.checks import instance, names_of
from ..results import Estimate, Limit, Runs
from .labels import axis_name, result_labels
from .panels import panels_of

# Okabe and Ito's colours, told apart by colour-blind readers; black is left for theory.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8B6F00")
MARKERS = "osD^vP*"
POINTS = 16
LEGEND_COLUMNS = 2
Drawn = Runs | Limit | Estimate


def curves(
    *results: Drawn | Sequence[Drawn],
    names: Sequence[str] = ("train_error", "test_error"),
    labels: Sequence[str] | None = None,
    ax: Any = None,
) -> np.ndarray:
    """Draw curves of results against time, one panel per curve.

    Of runs, markers carry one standard error of the mean over trials and a line joins all saved times. Of a limit, a
    line has a band of two standard errors, and so has an estimate, with a mark at its time to stop. Results of one
    problem share a colour.

    Parameters
    ----------
    results
        Limits, runs and estimates, or lists of them as `simulate` returns for a list of models.
    names
        Curves to draw, one panel each.
    labels
        Names for the legend; by default what tells the results apart.
    ax
        Axes to draw in, one for each name; a new figure unless given.

    Returns
    -------
    Array of the axes.

    Examples
    --------
    >>> import flowlimit as fl
    >>> task = fl.Regression(2.0, noise_var=0.1, target=fl.Normal())
    >>> runs = fl.simulate(fl.Linear(), task, fl.GradientDescent(0.1, num_steps=50), dim=50, trials=3)
    >>> axes = fl.plot.curves(runs)
    >>> axes[0].get_ylabel()
    'training error'
    """
    every = [one for result in results for one in (result if isinstance(result, list | tuple) else [result])]
    flat: list[Drawn] = [instance("results", (Runs, Limit, Estimate), "fl.simulate(...)")(one) for one in every]
    names = names_of("names", names, "['test_error']")
    if not flat:
        raise ValueError("results: given none, needs at least one, e.g. fl.plot.curves(runs)")
    labels = None if labels is None else names_of("labels", labels, "['runs', 'limit']")
    if labels is not None and len(labels) != len(flat):
        raise ValueError(f"labels: given {len(labels)}, needs {len(flat)}, one for each result")
    known = list(dict.fromkeys(name for one in flat for name in one.curves))
    if unknown := [name for name in names if name not in (*known, "test_error")]:
        raise ValueError(f"names: given {', '.join(unknown)}, needs some of {', '.join(known)}")
    names = [name for name in names if name in known]  # without a target there is no test error
    own_figure = ax is None
    if own_figure:
        size = (0.4 + 3.9 * len(names), 2.8 + 0.24 * -(-len(flat) // LEGEND_COLUMNS))
        _, ax = plt.subplots(1, len(names), figsize=size, layout="constrained")
    panels = panels_of(ax, list(names))
    texts = _texts(flat) if labels is None else list(labels)
    colours = _colours(flat)
    for name, panel in zip(names, panels, strict=True):
        panel.set_xscale("log")
        panel.set_yscale(axis_scale([one[name].value for one in flat if name in one.curves]))
        for one, text, index in zip(flat, texts, colours, strict=True):
            if name in one.curves:
                _draw(panel, one, name, text, index)
        panel.set_xlabel("time $t$")
        panel.set_ylabel(axis_name(name))
    if own_figure:  # below the panels, where it covers no curve
        handles, place = panels[0].get_legend_handles_labels(), {"loc": "outside lower center", "ncols": LEGEND_COLUMNS}
        panels[0].figure.legend(*handles, **place, frameon=False, fontsize="small")
    else:
        panels[0].legend(frameon=False, fontsize="small")
    return panels


def _texts(results: Sequence[Drawn]) -> list[str]:
    """Name results of each kind by what tells them apart; the only one of its kind by its kind."""
    texts: dict[int, str] = {}
    mixed = len({type(one) for one in results}) > 1
    for kind in (Limit, Runs, Estimate):
        alike = [one for one in results if isinstance(one, kind)]
        for one, text in zip(alike, result_labels(alike) if alike else [], strict=True):
            own = _runs_text(one) if isinstance(one, Runs) else type(one).__name__.lower()
            texts[id(one)] = text if not mixed else own if len(alike) == 1 else f"{text}, {own}"
    return [texts[id(one)] for one in results]


def _runs_text(runs: Runs) -> str:
    """Say how many runs of what size, and how their data were drawn."""
    dim = runs.provenance.get("problem", {}).get("dim", "?")
    return f"{runs.trials} run{'s' * (runs.trials != 1)}, $d = {dim}$, {runs.stats.draws} draws"


def _colours(results: Sequence[Drawn]) -> list[int]:
    """Number results so that those of one model, task and training share a number, if they are of different kinds."""
    seen: dict[str, int] = {}
    numbers = []
    for index, one in enumerate(results):
        problem = one.provenance.get("problem", {})
        name = str([problem.get(part) for part in ("model", "task", "training")]) if problem else str(index)
        kind = f"{type(one).__name__} {name}"
        known = seen.get(name) if kind not in seen else None
        seen[kind] = seen[name] = len(set(seen.values())) if known is None else known
        numbers.append(seen[kind])
    return numbers


def draw_band(panel: Axes, limit: Any, name: str, label: str, index: int) -> None:
    """Draw a curve as a line in a band of two standard errors."""
    curve, colour = limit[name], COLOURS[index % len(COLOURS)]
    after = limit.times > 0.0
    times, value, band = limit.times[after], curve.value[after], 2.0 * curve.stderr[after]
    if not len(times):
        return
    low = value - (np.minimum(band, 0.9 * np.abs(value)) if panel.get_yscale() == "log" else band)
    panel.fill_between(times, low, value + band, color=colour, alpha=0.25, linewidth=0.0)
    panel.plot(times, value, color=colour, linewidth=1.4, label=label)


def axis_scale(values: list[np.ndarray]) -> str:
    """Choose a log axis for positive curves that span more than a decade."""
    finite = np.concatenate([value[np.isfinite(value)] for value in values])
    return "log" if len(finite) and finite.min() > 0.0 and finite.max() > 10.0 * finite.min() else "linear"


def _draw(panel: Axes, result: Drawn, name: str, label: str, index: int) -> None:
    draw = _draw_runs if isinstance(result, Runs) else draw_band
    draw(panel, result, name, label, index)
    if isinstance(result, Estimate) and result.stopping is not None and result.stopping.time > 0.0:
        at = result.at(result.stopping.time)[name].value[0]
        panel.plot([result.stopping.time], [at], color=COLOURS[index % len(COLOURS)], marker="o", markersize=5.0)


def _draw_runs(panel: Axes, result: Any, name: str, label: str, index: int) -> None:
    curve, colour = result[name], COLOURS[index % len(COLOURS)]
    after = result.times > 0.0  # a log axis has no place for the start
    times, value, stderr = result.times[after], curve.value[after], curve.stderr[after]
    if not len(times):
        return
    panel.plot(times, value, color=colour, linewidth=0.8, alpha=0.6)
    shown = np.unique(np.searchsorted(times, np.geomspace(times[0], times[-1], POINTS)).clip(max=len(times) - 1))
    # On a log axis a bar may not reach zero: the lower end stops at a tenth of the value.
    low = np.minimum(stderr, 0.9 * np.abs(value)) if panel.get_yscale() == "log" else stderr
    panel.errorbar(
        times[shown],
        value[shown],
        yerr=np.stack([low, stderr])[:, shown],
        color=colour,
        marker=MARKERS[index % len(MARKERS)],
        markersize=3.5,
        linestyle="none",
        capsize=2.0,
        linewidth=0.9,
        label=label,
    )
