"""How fast training converges: errors less their limits in time, slopes of theory, and rates over the init scale."""

import itertools
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from ...asymptotics.rate import Rate, convergence_rate
from ...problem.designs import Design
from ...problem.models import DiagonalLinear
from ...problem.trainings import GradientDescent, GradientFlow
from ...results.spread import standard_error
from ...sweeps.verb import sweep
from ...verbs.solve import solve_dmft
from ..lab import Lab
from ..lines import Line, Numbers, draw_limit, draw_runs, mean_line
from ..setting import descent_of, task_of
from ..verdict import Verdict, judge_deviations
from .late import POWER, RATE, Fitted, Quantity, fit_limit, fit_trials

Trials = Float[np.ndarray, "trials times"]
SMALLEST = 1e-12
"""Least excess, relative to the initial one, that is judged: rounding is not far below."""
LEVEL = 1e-3
"""Part of the initial excess that is left when a trial counts as converged."""
DRAWN = 2.0
"""Standard errors that a limit's excess has, at least, where it is drawn."""
LOWEST = 1e-10
"""Least excess that is drawn."""
SMOOTH = 80


class Decay(NamedTuple):
    """The training error of one problem, less its last value: of every trial, of the limit, and the rate."""

    scale: float
    rate: Rate
    times: Numbers
    trials: Trials
    limit: Line
    """Of gradient flow."""
    steps: Line
    """Of gradient descent, the first steps: there it differs from the flow by more than runs scatter."""

    @property
    def runs(self) -> Line:
        """The mean over trials."""
        return mean_line(self.times, self.trials)

    @property
    def ended(self) -> Numbers:
        """When each trial has come down to a small part of its initial excess."""
        return np.array([_time_at(self.times, own, LEVEL * own[0]) for own in self.trials])


class Rates(NamedTuple):
    """Decays by aspect ratio, and gamma over a fine axis of init scales."""

    decays: dict[float, list[Decay]]
    scales: Numbers
    gamma: dict[float, Numbers]


def compute(label: str, lab: Lab, p: SimpleNamespace) -> Rates:
    """Run the experiments: decays unless theory alone is asked for."""
    decays = {} if label == "fig:convergencerate_theory" else {r: decays_at(lab, p, r) for r in p.ratios}
    scales = np.geomspace(p.theory_scales[0], p.theory_scales[1], SMOOTH)
    return Rates(decays, scales, {ratio: gamma_over(p, scales, ratio) for ratio in p.ratios})


def gamma_over(p: SimpleNamespace, scales: Numbers, ratio: float) -> Numbers:
    """Return the rate over init scales."""
    over = {"model.init_scale": scales}
    return sweep(convergence_rate, DiagonalLinear(1.0), task_of(p, ratio), over=over)["gamma"].to_numpy()


def decays_at(
    lab: Lab, p: SimpleNamespace, ratio: float, *, design: Design | None = None, name: str = "rates"
) -> list[Decay]:
    """Return the decays of all init scales at an aspect ratio, on data of the given design."""
    options = {"dim": p.dim, "trials": p.trials, "key": p.key, "save_at": saved_times(p)}
    training, over = descent_of(p), {"model.init_scale": p.scales}
    runs = lab.simulate(
        f"{name}-{ratio:g}",
        *(DiagonalLinear(1.0), task_of(p, ratio, design), training),
        over=over,
        block_size=len(p.scales),
        **options,
    )
    data = runs.to_xarray()
    return [_decay(lab, p, ratio, scale, data.sel({"model.init_scale": scale})) for scale in p.scales]


def saved_times(p: SimpleNamespace) -> Numbers:
    """Return time 0, and times of steps evenly in log t."""
    return np.r_[0.0, np.unique(np.geomspace(1, p.num_steps, p.saved).round())] * p.step_size


def less_end(errors: Trials) -> Trials:
    """Return errors less their last values, which differ from trial to trial unless all data are fitted."""
    return errors - errors[:, -1:]


def _decay(lab: Lab, p: SimpleNamespace, ratio: float, scale: float, data: Any) -> Decay:
    model, task = DiagonalLinear(scale), task_of(p, ratio)
    rate = convergence_rate(model, task)
    horizon = min(p.step_size * p.num_steps, p.limit_lives / float(rate.gamma))
    end, times = float(rate.point.train_error), data["time"].to_numpy()
    flow = _limit(lab, p, f"rates-{ratio:g}-limit-{scale:g}", model, task, GradientFlow(horizon), end)
    descent = GradientDescent(p.step_size, num_steps=p.first_steps)
    steps = _limit(lab, p, f"rates-{ratio:g}-steps-{scale:g}", model, task, descent, end)
    return Decay(scale, rate, times, less_end(data["train_error_trials"].to_numpy()), flow, steps)


def _limit(lab: Lab, p: SimpleNamespace, name: str, model: Any, task: Any, training: Any, end: float) -> Line:
    """Return the training error of a limit less the fixed point's. Times differ, so it is a sweep of one point."""
    options = {"rtol": p.limit_rtol, "key": p.key, "time_limit": p.time_limit}
    over = {"model.init_scale": [float(model.init_scale)]}
    table = lab.sweep(name, solve_dmft, model, task, training, over=over, **options)
    known = table.to_xarray().isel({"model.init_scale": 0})
    value, stderr = (known[number].to_numpy() for number in ("train_error", "train_error_stderr"))
    return Line(known["time"].to_numpy(), value - end, stderr)


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


def draw_decays(panel: Any, decays: list[Decay], words: str = "limit") -> None:
    """Draw errors less their last values over time, with the slope of theory after the limit's last time."""
    for index, decay in enumerate(decays):
        colour, runs, limit = f"C{index}", decay.runs, _resolved(decay.limit)
        shown = (runs.times > 0.0) & (runs.value > max(SMALLEST * runs.value[0], LOWEST))
        draw_runs(panel, runs.times, runs, shown, log=True, color=colour, label=rf"$\alpha$ = {decay.scale:g}")
        draw_limit(panel, limit.times, limit, limit.times > 0.0, color=colour, least=LOWEST)
        last = limit.times[-1]
        late = np.geomspace(last, 4.0 * last, 30)
        slope = limit.value[-1] * (late / last) ** -1.5 * np.exp(-2.0 * float(decay.rate.gamma) * (late - last))
        panel.plot(late, slope, color="black", linestyle="--", linewidth=0.9)
    panel.plot([], [], color="0.4", label=words)
    panel.plot([], [], color="black", linestyle="--", label=r"$t^{-3/2} e^{-2\gamma t}$")
    panel.set(xscale="log", yscale="log", xlabel="time $t$", ylim=(LOWEST, None))
    panel.set_ylabel("training error less its last value")
    panel.set_xlim(0.3, None)
    panel.legend(loc="lower left", fontsize=6)


def _resolved(line: Line) -> Line:
    """Return a curve up to where its error becomes as large as itself."""
    lost = np.flatnonzero(line.value < DRAWN * line.stderr)
    stop = int(lost[0]) if len(lost) else len(line.times)
    return Line(*(numbers[:stop] for numbers in line))


def draw_rates(panel: Any, data: Rates) -> None:
    """Draw gamma over the init scale."""
    for ratio, gamma in data.gamma.items():
        panel.plot(data.scales, gamma, label=f"aspect ratio {ratio:g}")
    panel.set(xscale="log", yscale="log", xlabel=r"init scale $\alpha$", ylabel=r"rate $\gamma$")
    panel.legend()


def judge(label: str, data: Rates) -> list[Verdict]:
    """Judge runs against the limit, the limit against the rate, and the trend of the rate."""
    verdicts = [judge_gamma(label, list(data.gamma.values()))]
    for part, decays in zip("ab", data.decays.values(), strict=False):
        verdicts += judge_decays(f"{label} ({part})", decays)
    return verdicts


def judge_gamma(panel: str, gammas: list[Numbers]) -> Verdict:
    """Judge the trend of the rate over init scales."""
    rise = min(float(np.diff(np.log(gamma)).min()) for gamma in gammas)
    words = "least rise of log gamma from one init scale to the next"
    return Verdict(panel, "the rate rises with the init scale", words, rise, 0.0, "above")


def judge_decays(panel: str, decays: list[Decay]) -> list[Verdict]:
    """Judge one panel of decays: runs by the limit, it by the rate and its power of t, init scales by each other."""
    off = np.concatenate([_deviations(decay) for decay in decays])
    return [
        judge_deviations(panel, "runs follow the limit", "runs from the limit", off, len(decays[0].trials)),
        *judge_late(panel, decays),
        judge_order(panel, decays),
    ]


def judge_order(panel: str, decays: list[Decay]) -> Verdict:
    """Judge whether smaller initialisations converge later, by the times of the same trials."""
    gaps = []
    for smaller, larger in itertools.pairwise(decays):
        log = np.log(smaller.ended / larger.ended)
        gaps.append(float(log.mean() / standard_error(log)))
    level = f"{LEVEL:g} of the initial excess"
    words = f"least log ratio of times to {level}, one init scale to the next, in standard errors"
    return Verdict(panel, "training converges later from smaller initialisations", words, min(gaps), 5.0, "above")


def judge_late(panel: str, decays: list[Decay]) -> list[Verdict]:
    """Judge the rate after 1/gamma and the power of t before the exponential, from limits or else from runs."""
    claims = (
        ("training errors fall with 2 gamma", "|fitted rate/(2 gamma) - 1|", RATE),
        ("a power t^(-3/2) stands before the exponential", "|fitted power + 3/2|", POWER),
    )
    return [_judge_fits(panel, claim, words, quantity, decays) for claim, words, quantity in claims]


def _judge_fits(panel: str, claim: str, words: str, quantity: Quantity, decays: list[Decay]) -> Verdict:
    fits = [_fitted(quantity, decay) for decay in decays]
    judged = [fit for fit in fits if fit is not None]
    left = [f"{decay.scale:g}" for decay, fit in zip(decays, fits, strict=True) if fit is None]
    worst = max(judged, key=lambda fit: fit.off / fit.bound) if judged else Fitted(np.nan, np.nan)
    note = f"not resolved at init scale {', '.join(left)}" if left else ""
    return Verdict(panel, claim, words, worst.off, worst.bound, note=note)


def _fitted(quantity: Quantity, decay: Decay) -> Fitted | None:
    gamma = float(decay.rate.gamma)
    known = fit_limit(quantity, gamma, decay.limit)
    return fit_trials(quantity, gamma, decay.times, decay.trials) if known is None else known


def _deviations(decay: Decay) -> Numbers:
    """Return how far runs are from the limit of descent, then from that of the flow, in standard errors of both."""
    runs, steps, flow = decay.runs, decay.steps, decay.limit
    reliable = (runs.times > 0.0) & (runs.value > SMALLEST * runs.value[0])
    early = reliable & (runs.times <= steps.times[-1])
    late = reliable & (runs.times > steps.times[-1]) & (runs.times <= flow.times[-1])
    return np.concatenate([_apart(runs, steps, early), _apart(runs, flow, late)])


def _apart(runs: Line, limit: Line, inside: Bool[np.ndarray, "_"]) -> Numbers:
    """Return deviations at some times; those at which the limit's excess is not resolved are left out."""
    known = (limit.times > 0.0) & (limit.value > limit.stderr)
    log = np.log(limit.times[known])
    inside = inside & (runs.times <= limit.times[known][-1] * (1.0 + 1e-9))
    at = np.log(runs.times[inside])
    value, error = np.exp(np.interp(at, log, np.log(limit.value[known]))), np.interp(at, log, limit.stderr[known])
    return (runs.value[inside] - value) / np.hypot(runs.stderr[inside], error)


def _time_at(times: Numbers, values: Numbers, level: float) -> float:
    """Return when a falling curve reaches a level for good, between times by a line in the logarithm."""
    above = int(np.flatnonzero(values > level)[-1])
    if above + 1 == len(times):
        return float(times[-1])
    log = np.log(np.maximum(values[above : above + 2], 1e-300))
    part = (log[0] - np.log(level)) / (log[0] - log[1])
    return float(times[above] + part * (times[above + 1] - times[above]))
