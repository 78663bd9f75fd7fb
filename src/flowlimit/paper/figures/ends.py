"""Fixed points of training: errors over aspect ratio or init scale, and the law of w, in the paper's three cases."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float

from ...asymptotics.fixed_point import FixedPoint, fixed_point
from ...problem.models import DiagonalLinear
from ...problem.trainings import GradientFlow
from ...results.spread import standard_error
from ...sweeps.table import Table
from ...sweeps.verb import sweep
from ..lab import Lab
from ..setting import descent_of, task_of
from ..verdict import Verdict, judge_deviations

Numbers = Float[np.ndarray, "points"]
FINE = 33
"""Points of the quadrature in each bin of a law."""
LOWEST, HIGHEST = -0.6, 1.4
"""Weights that laws are drawn for."""
LEAST = 1e-3
"""Least density that is drawn."""
FEWEST = 5.0
"""Weights that a bin expects, at least, to be judged: below it counts are far from Gaussian."""
SMOOTH = 60
"""Points of a line of theory."""


class Ends(NamedTuple):
    """One case: its axis, errors of theory and of runs along it, and a law at one point."""

    axis: str
    at: Numbers
    fine: Numbers
    line: dict[str, Numbers]
    """Theory on a fine axis, for a line, and at the points of the runs."""
    theory: dict[str, Numbers]
    mean: dict[str, Numbers]
    stderr: dict[str, Numbers]
    law: "Law"
    trials: int


class Law(NamedTuple):
    """The law of w(infinity): shares of bins, of theory and of each trial's weights, and the atom at 0."""

    edges: Numbers
    theory: Numbers
    runs: Float[np.ndarray, "trials bins"]
    atom: float
    dim: int
    point: FixedPoint


def compute(label: str, lab: Lab, p: SimpleNamespace) -> Ends:
    """Run the experiment of a case."""
    return {"case1": _case1, "case2": _case2, "case3": _case3}[label[-5:]](lab, p)


def _case1(lab: Lab, p: SimpleNamespace) -> Ends:
    model = DiagonalLinear(p.init_scale, weight_decay=p.weight_decay)
    return _over_ratios(lab, p, "ends-case1", model, p.case1_ratios, p.case1_law_ratio)


def _case2(lab: Lab, p: SimpleNamespace) -> Ends:
    return _over_ratios(lab, p, "ends-case2", DiagonalLinear(p.init_scale), p.case2_ratios, p.case2_law_ratio)


def _over_ratios(
    lab: Lab, p: SimpleNamespace, name: str, model: DiagonalLinear, ratios: list[float], law: float
) -> Ends:
    data = _runs(lab, p, name, model, task_of(p, 1.0), descent_of(p), {"task.aspect_ratio": ratios}).to_xarray()
    theory = lambda at: sweep(fixed_point, model, task_of(p, 1.0), over={"task.aspect_ratio": at})
    point = fixed_point(model, task_of(p, law))
    return _ends("aspect ratio", ratios, theory, data, _law(p, point, data.sel({"task.aspect_ratio": law})), p)


def _case3(lab: Lab, p: SimpleNamespace) -> Ends:
    task, model = task_of(p, p.case3_ratio), DiagonalLinear(p.init_scale)
    flow = GradientFlow(p.flow_horizon)
    parts = [
        _runs(lab, p, "ends-case3", model, task, descent_of(p), {"model.init_scale": p.case3_scales}),
        _runs(lab, p, "ends-case3-flow", model, task, flow, {"model.init_scale": p.case3_flow_scales}),
    ]
    ends = [part.to_xarray().isel(time=-1).drop_vars("time") for part in parts]
    data: Any = xr.concat(ends, "model.init_scale", coords="minimal", compat="override")
    theory = lambda at: sweep(fixed_point, model, task, over={"model.init_scale": at})
    point = fixed_point(model, task)
    law = _law(p, point, data.sel({"model.init_scale": p.init_scale}))
    return _ends("init scale", p.case3_scales + p.case3_flow_scales, theory, data, law, p)


def _runs(lab: Lab, p: SimpleNamespace, name: str, model: Any, task: Any, training: Any, over: dict[str, Any]) -> Any:
    end = training.clock.end
    options = {"dim": p.dim, "trials": p.trials, "key": p.key, "save_at": [0.0, end], "weights_at": [end]}
    values = next(iter(over.values()))
    return lab.simulate(name, model, task, training, over=over, block_size=len(values), **options)


def _ends(
    axis: str, at: Any, theory: Callable[[Numbers], Table], data: xr.Dataset, law: Law, p: SimpleNamespace
) -> Ends:
    last = data.isel(time=-1) if "time" in data.dims else data
    names, at = ("train_error", "test_error"), np.asarray(at)
    fine = (np.geomspace if axis == "init scale" else np.linspace)(at.min(), at.max(), SMOOTH)
    known = theory(np.concatenate([at, fine]))
    values = {name: known[name].to_numpy() for name in names}
    return Ends(
        axis,
        at,
        fine,
        {name: values[name][len(at) :] for name in names},
        {name: values[name][: len(at)] for name in names},
        {name: last[name].to_numpy() for name in names},
        {name: last[f"{name}_stderr"].to_numpy() for name in names},
        law,
        p.trials,
    )


def _law(p: SimpleNamespace, point: FixedPoint, data: xr.Dataset) -> Law:
    weights = data["weights"].to_numpy().reshape(p.trials, -1)
    edges = LOWEST + (HIGHEST - LOWEST) / p.bins * np.arange(p.bins + 1)
    edges = edges - edges[np.abs(edges).argmin()] + 0.5 * (edges[1] - edges[0])  # 0 is the middle of a bin
    share = np.stack([np.histogram(own, edges)[0] / len(own) for own in weights])
    inside = edges[:-1, None] + np.diff(edges)[:, None] * np.linspace(0.0, 1.0, FINE)[None]
    density = np.asarray(point.density(inside))
    theory = np.trapezoid(density, inside, axis=1)
    atom = float(point.atom)
    theory = theory + atom * ((edges[:-1] <= 0.0) & (edges[1:] > 0.0))
    return Law(edges, theory, share, atom, weights.shape[1], point)


def draw(label: str, data: Ends) -> Any:
    """Draw errors over the axis, and the law of w."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    figure, (left, right) = plt.subplots(1, 2, figsize=(6.0, 2.4))
    for name, words, marker in (("train_error", "training", "o"), ("test_error", "test", "s")):
        if data.theory[name].max() > 0.0:
            (line,) = left.plot(data.fine, data.line[name], label=f"{words} error, theory")
            bars = {"fmt": marker, "color": line.get_color(), "label": f"{words} error, runs"}
            left.errorbar(data.at, data.mean[name], data.stderr[name], **bars)
    left.set(xlabel=data.axis, ylabel="error", yscale="log")
    if data.axis == "init scale":
        left.set_xscale("log")
    left.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    left.yaxis.set_major_formatter("{x:g}")
    left.yaxis.set_minor_formatter("")
    left.legend()
    _draw_law(right, data.law)
    return figure


def _draw_law(panel: Any, law: Law) -> None:
    width = np.diff(law.edges)
    middle = (law.edges[1:] + law.edges[:-1]) / 2.0
    panel.bar(middle, law.runs.mean(axis=0) / width, width, color="0.8", label="runs")
    w = np.linspace(law.edges[0], law.edges[-1], 2001)
    panel.plot(w, np.asarray(law.point.density(w)), color="black", label="theory")
    if law.atom > 1e-9:
        height = law.atom / width[0]
        panel.annotate("", (0.0, height), (0.0, LEAST), arrowprops={"arrowstyle": "->", "color": "black"})
    panel.set(xlabel=r"$w(\infty)$", ylabel="density", yscale="log", ylim=(LEAST, 3.0 * (law.theory / width).max()))
    panel.legend()


def judge(label: str, data: Ends) -> list[Verdict]:
    """Judge errors and the law of w by deviations in standard errors, and what the paper says of the trend."""
    names = [name for name in ("train_error", "test_error") if (data.theory[name] > 0.0).all()]
    off = np.concatenate([(data.mean[name] - data.theory[name]) / data.stderr[name] for name in names])
    claim = f"the fixed point gives the errors of long runs over {data.axis}"
    law = "the fixed point gives the law of w in long runs"
    verdicts = [
        judge_deviations(label, claim, "errors", off, data.trials),
        judge_deviations(label, law, "a bin", _off_law(data.law), data.trials),
    ]
    if label.endswith("case3"):
        rise = np.diff(data.theory["test_error"]) / data.theory["test_error"][1:]
        claim = "smaller initialisations have smaller test errors at the fixed point"
        words = "least relative rise of the test error from one init scale to the next"
        verdicts.append(Verdict(label, claim, words, float(rise.min()), 0.0, "above"))
    return verdicts


def _off_law(law: Law) -> Numbers:
    """Return deviations of bins in standard errors, at least those of counting independent weights."""
    trials, dim = len(law.runs), law.dim
    spread = standard_error(law.runs)
    scatter = np.maximum(spread, np.sqrt(law.theory / (trials * dim)))
    filled = law.theory * trials * dim > FEWEST
    return ((law.runs.mean(axis=0) - law.theory) / scatter)[filled]
