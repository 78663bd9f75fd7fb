"""How fast training ends: errors less their limits in time, with slopes of theory, and rates over the init scale."""

import itertools
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.stats import t as student

from ...asymptotics.rate import Rate, convergence_rate
from ...problem.designs import Design
from ...problem.laws import Bernoulli
from ...problem.models import DiagonalLinear
from ...problem.tasks import Regression
from ...problem.trainings import GradientDescent, GradientFlow
from ...sweeps import sweep
from ...verbs.simulate import simulate
from ...verbs.solve import solve_dmft
from ..lab import Lab
from ..verdict import Verdict

Numbers = Float[np.ndarray, "_"]
CHANCE = 1e-3
"""Chance that a true claim is judged false by the scatter of runs, all points of a curve together."""
SMALLEST = 1e-12
"""Least excess, relative to the start, that is judged: rounding is not far below."""
SMOOTH = 80


class Line(NamedTuple):
    """One curve in time with its standard errors."""

    times: Numbers
    value: Numbers
    stderr: Numbers


class Decay(NamedTuple):
    """The training error of one problem, less its end: runs, the limit, and the rate."""

    scale: float
    rate: Rate
    runs: Line
    limit: Line


class Rates(NamedTuple):
    """Decays by aspect ratio, and gamma over a fine axis of init scales."""

    decays: dict[float, list[Decay]]
    scales: Numbers
    gamma: dict[float, Numbers]
    trials: int


def compute(label: str, lab: Lab, p: SimpleNamespace) -> Rates:
    """Run the experiments: decays unless theory alone is asked for."""
    decays = {} if label == "fig:convergencerate_theory" else {r: decays_at(lab, p, r) for r in p.ratios}
    scales = np.geomspace(p.theory_scales[0], p.theory_scales[1], SMOOTH)
    over = {"task.aspect_ratio": p.ratios, "model.init_scale": scales}
    gamma = sweep(convergence_rate, DiagonalLinear(1.0), _task(p, 1.0), over=over)["gamma"].to_numpy()
    return Rates(decays, scales, dict(zip(p.ratios, gamma, strict=True)), p.trials)


def _task(p: SimpleNamespace, ratio: float, design: Design | None = None) -> Regression:
    task = Regression(aspect_ratio=ratio, noise_var=p.noise_var, target=Bernoulli(p.probability))
    return task if design is None else task.replaced(design=design)


def decays_at(
    lab: Lab, p: SimpleNamespace, ratio: float, *, design: Design | None = None, name: str = "rates"
) -> list[Decay]:
    """Return the decays of all init scales at an aspect ratio, on data of the given design."""
    steps = np.unique(np.geomspace(1, p.num_steps, p.saved).round())
    options = {"dim": p.dim, "trials": p.trials, "key": p.key, "save_at": np.r_[0.0, steps * p.step_size]}
    training, over = GradientDescent(p.step_size, p.num_steps), {"model.init_scale": p.scales}
    runs = lab.sweep(
        f"{name}-{ratio:g}",
        *(simulate, DiagonalLinear(1.0), _task(p, ratio, design), training),
        over=over,
        block_size=len(p.scales),
        **options,
    )
    data = runs.to_xarray()
    return [_decay(lab, p, ratio, scale, data.sel({"model.init_scale": scale})) for scale in p.scales]


def _decay(lab: Lab, p: SimpleNamespace, ratio: float, scale: float, data: Any) -> Decay:
    model, task = DiagonalLinear(scale), _task(p, ratio)
    rate = convergence_rate(model, task)
    horizon = min(p.step_size * p.num_steps, p.limit_lives / float(rate.gamma))
    # Each limit has a horizon of its own, so that it is a sweep of one point.
    limit = lab.sweep(
        f"rates-{ratio:g}-limit-{scale:g}",
        *(solve_dmft, model, task, GradientFlow(horizon)),
        over={"model.init_scale": [scale]},
        **{"rtol": p.limit_rtol, "key": p.key, "time_limit": p.time_limit},
    ).to_xarray()
    end, known = float(rate.point.train_error), limit.isel({"model.init_scale": 0})
    curve = Line(
        known["time"].to_numpy(), known["train_error"].to_numpy() - end, known["train_error_stderr"].to_numpy()
    )
    return Decay(scale, rate, _excess(data), curve)


def _excess(data: Any) -> Line:
    """Return the training error less where its own trial ends: ends differ from trial to trial above aspect ratio 1."""
    errors = data["train_error_trials"].to_numpy()
    less = errors - errors[:, -1:]
    return Line(data["time"].to_numpy(), less.mean(axis=0), less.std(axis=0, ddof=1) / np.sqrt(len(less)))


def draw(label: str, data: Rates) -> Any:
    """Draw decays at each aspect ratio, or the rates of theory."""
    import matplotlib.pyplot as plt

    if not data.decays:
        figure, panel = plt.subplots(figsize=(3.2, 2.4))
        draw_rates(panel, data)
        return figure
    figure, panels = plt.subplots(1, len(data.decays), figsize=(6.0, 2.5))
    for panel, (ratio, decays) in zip(np.atleast_1d(panels), data.decays.items(), strict=True):
        draw_decays(panel, decays)
        panel.set_title(f"aspect ratio {ratio:g}")
    return figure


def draw_decays(panel: Any, decays: list[Decay]) -> None:
    """Draw errors less their ends over time, in lives 1/gamma of each, with the slope of theory."""
    for index, decay in enumerate(decays):
        colour, gamma = f"C{index}", float(decay.rate.gamma)
        shown = (decay.runs.times > 0.0) & (decay.runs.value > SMALLEST * decay.runs.value[0])
        times, value = decay.runs.times[shown], decay.runs.value[shown]
        bars = {"fmt": "o", "color": colour, "markersize": 2.0, "label": f"init scale {decay.scale:g}"}
        some = slice(None, None, 3)
        panel.errorbar(times[some], value[some], decay.runs.stderr[shown][some], **bars)
        limit = decay.limit
        panel.plot(limit.times, limit.value, color=colour)
        low, high = limit.value - 2.0 * limit.stderr, limit.value + 2.0 * limit.stderr
        panel.fill_between(limit.times, np.maximum(low, 1e-30), high, color=colour, alpha=0.25, linewidth=0.0)
        last = limit.times[-1]
        late = np.geomspace(last, 4.0 * last, 30)
        slope = limit.value[-1] * (late / last) ** -1.5 * np.exp(-2.0 * gamma * (late - last))
        panel.plot(late, slope, color="black", linestyle="--", linewidth=0.9)
    panel.plot([], [], color="black", linestyle="--", label=r"$t^{-3/2} e^{-2\gamma t}$")
    panel.set(xscale="log", yscale="log", xlabel="time $t$", ylabel="training error less its limit", ylim=(1e-10, None))
    panel.set_xlim(0.3, None)
    panel.legend()


def draw_rates(panel: Any, data: Rates) -> None:
    """Draw gamma over the init scale."""
    for ratio, gamma in data.gamma.items():
        panel.plot(data.scales, gamma, label=f"aspect ratio {ratio:g}")
    panel.set(xscale="log", yscale="log", xlabel=r"init scale $\alpha$", ylabel=r"rate $\gamma$")
    panel.legend()


def judge(label: str, data: Rates) -> list[Verdict]:
    """Judge runs against the limit, the limit against the rate, and the trend of the rate."""
    rise = min(float(np.diff(np.log(gamma)).min()) for gamma in data.gamma.values())
    words = "least rise of log gamma from one init scale to the next"
    verdicts = [Verdict(label, "the rate rises with the init scale", words, rise, 0.0, "above")]
    for part, decays in zip("ab", data.decays.values(), strict=False):
        verdicts += judge_decays(f"{label} ({part})", decays, data.trials)
    return verdicts


def judge_decays(panel: str, decays: list[Decay], trials: int) -> list[Verdict]:
    """Judge one panel of decays."""
    off = np.concatenate([_deviations(decay) for decay in decays])
    bound = float(student.ppf(1.0 - CHANCE / (2.0 * len(off)), trials - 1))
    words = "largest deviation from the limit, in standard errors"
    verdicts = [Verdict(panel, "runs follow the limit", words, float(off.max()), bound)]
    order = _ordered(decays)
    words = "least gap between curves of two starts at the last common time, in standard errors"
    verdicts.append(Verdict(panel, "training ends later from smaller starts", words, order, 3.0, "above"))
    return verdicts


def _deviations(decay: Decay) -> Numbers:
    """Return how far runs are from the limit at its times, in standard errors of the two, where runs are reliable."""
    runs, limit = decay.runs, decay.limit
    inside = (runs.times > 0.0) & (runs.times <= limit.times[-1]) & (runs.value > SMALLEST * runs.value[0])
    at = np.log(runs.times[inside])
    known = limit.times > 0.0
    value = np.exp(np.interp(at, np.log(limit.times[known]), np.log(limit.value[known])))
    error = np.interp(at, np.log(limit.times[known]), limit.stderr[known])
    return np.abs(runs.value[inside] - value) / np.hypot(runs.stderr[inside], error)


def _ordered(decays: list[Decay]) -> float:
    gaps = []
    for smaller, larger in itertools.pairwise(decays):
        good = (smaller.runs.value > 0.0) & (larger.runs.value > SMALLEST * larger.runs.value[0])
        last = int(np.flatnonzero(good)[-1])
        gap = smaller.runs.value[last] - larger.runs.value[last]
        gaps.append(gap / np.hypot(smaller.runs.stderr[last], larger.runs.stderr[last]))
    return float(min(gaps))
