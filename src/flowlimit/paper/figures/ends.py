"""Where training ends: errors over aspect ratio or init scale, and the law of w, in the three cases of the paper."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy.stats import t as student

from ...asymptotics.fixed_point import FixedPoint, fixed_point
from ...problem.laws import Bernoulli
from ...problem.models import DiagonalLinear
from ...problem.tasks import Regression
from ...problem.trainings import GradientDescent, GradientFlow
from ...sweeps import Table, sweep
from ...verbs.simulate import simulate
from ..lab import Lab
from ..verdict import Verdict

Numbers = Float[np.ndarray, "points"]
CHANCE = 1e-3
"""Chance that a true claim is judged false by the scatter of runs, all points of a panel together."""
FINE = 33
"""Points of the quadrature in each bin of a law."""
LOWEST, HIGHEST = -0.6, 1.4
"""Weights that laws are drawn for."""
LEAST = 1e-3
"""Least density that is drawn."""
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
    point: FixedPoint


def compute(label: str, lab: Lab, p: SimpleNamespace) -> Ends:
    """Run the experiment of a case."""
    return {"case1": _case1, "case2": _case2, "case3": _case3}[label[-5:]](lab, p)


def _task(p: SimpleNamespace, ratio: float) -> Regression:
    return Regression(aspect_ratio=ratio, noise_var=p.noise_var, target=Bernoulli(p.probability))


def _case1(lab: Lab, p: SimpleNamespace) -> Ends:
    model = DiagonalLinear(p.init_scale, weight_decay=p.weight_decay)
    return _over_ratios(lab, p, "ends-case1", model, p.case1_ratios, p.case1_law_ratio)


def _case2(lab: Lab, p: SimpleNamespace) -> Ends:
    return _over_ratios(lab, p, "ends-case2", DiagonalLinear(p.init_scale), p.case2_ratios, p.case2_law_ratio)


def _over_ratios(
    lab: Lab, p: SimpleNamespace, name: str, model: DiagonalLinear, ratios: list[float], law: float
) -> Ends:
    data = _runs(lab, p, name, model, _task(p, 1.0), _descent(p), {"task.aspect_ratio": ratios}).to_xarray()
    theory = lambda at: sweep(fixed_point, model, _task(p, 1.0), over={"task.aspect_ratio": at})
    point = fixed_point(model, _task(p, law))
    return _ends("aspect ratio", ratios, theory, data, _law(p, point, data.sel({"task.aspect_ratio": law})), p)


def _case3(lab: Lab, p: SimpleNamespace) -> Ends:
    task, model = _task(p, p.case3_ratio), DiagonalLinear(p.init_scale)
    flow = GradientFlow(p.flow_horizon)
    parts = [
        _runs(lab, p, "ends-case3", model, task, _descent(p), {"model.init_scale": p.case3_scales}),
        _runs(lab, p, "ends-case3-flow", model, task, flow, {"model.init_scale": p.case3_flow_scales}),
    ]
    ends = [part.to_xarray().isel(time=-1).drop_vars("time") for part in parts]
    data: Any = xr.concat(ends, "model.init_scale", coords="minimal", compat="override")
    theory = lambda at: sweep(fixed_point, model, task, over={"model.init_scale": at})
    point = fixed_point(model, task)
    law = _law(p, point, data.sel({"model.init_scale": p.init_scale}))
    return _ends("init scale", p.case3_scales + p.case3_flow_scales, theory, data, law, p)


def _descent(p: SimpleNamespace) -> GradientDescent:
    return GradientDescent(p.step_size, p.num_steps)


def _runs(lab: Lab, p: SimpleNamespace, name: str, model: Any, task: Any, training: Any, over: dict[str, Any]) -> Any:
    end = float(p.flow_horizon) if isinstance(training, GradientFlow) else p.step_size * p.num_steps
    options = {"dim": p.dim, "trials": p.trials, "key": p.key, "save_at": [0.0, end], "weights_at": [end]}
    values = next(iter(over.values()))
    return lab.sweep(name, simulate, model, task, training, over=over, block_size=len(values), **options)


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
    return Law(edges, theory, share, atom, point)


def draw(label: str, data: Ends) -> Any:
    """Draw errors over the axis, and the law of w."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(6.0, 2.4))
    for name, words, marker in (("train_error", "training", "o"), ("test_error", "test", "s")):
        if data.theory[name].max() > 0.0:
            (line,) = left.plot(data.fine, data.line[name], label=f"{words} error, theory")
            bars = {"fmt": marker, "color": line.get_color(), "label": f"{words} error, runs"}
            left.errorbar(data.at, data.mean[name], data.stderr[name], **bars)
    left.set(xlabel=data.axis, ylabel="error", yscale="log")
    if data.axis == "init scale":
        left.set_xscale("log")
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
    deviation = lambda name: np.abs(data.mean[name] - data.theory[name]) / data.stderr[name]
    worst = max(float(deviation(name).max()) for name in names)
    count = len(names) * len(data.at)
    words = "largest deviation of errors, in standard errors"
    verdicts = [
        Verdict(label, f"theory gives the errors at the end over {data.axis}", words, worst, _most(count, data))
    ]
    mean, spread = data.law.runs.mean(axis=0), data.law.runs.std(axis=0, ddof=1) / np.sqrt(data.trials)
    filled = data.law.theory * data.trials > 1e-2  # elsewhere a handful of weights decide
    scatter = np.maximum(spread, np.sqrt(data.law.theory / data.trials / _dim(data)))
    off = np.abs(mean - data.law.theory)[filled] / scatter[filled]
    words = "largest deviation of a bin, in standard errors"
    verdicts.append(
        Verdict(label, "theory gives the law of w at the end", words, float(off.max()), _most(len(off), data))
    )
    if label.endswith("case3"):
        rise = np.diff(data.theory["test_error"]) / data.theory["test_error"][1:]
        claim = "smaller starts end with smaller test errors"
        words = "least relative rise of the test error from one init scale to the next"
        verdicts.append(Verdict(label, claim, words, float(rise.min()), 0.0, "above"))
    return verdicts


def _dim(data: Ends) -> float:
    return 1.0 / data.law.runs[data.law.runs > 0.0].min()


def _most(count: int, data: Ends) -> float:
    """Return what the largest of so many Student numbers stays below, but for a small chance."""
    return float(student.ppf(1.0 - CHANCE / (2.0 * count), data.trials - 1))
