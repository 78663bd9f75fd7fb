"""Long times at aspect ratio 0.5: ends over the init scale, and decays on Gaussian and on real data."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ..lab import Lab
from ..lines import Numbers, draw_runs
from ..parameters import read_parameters
from ..verdict import Verdict, judge_deviations
from . import ends, rates
from .real import expression_of, gaussian_like, name_of, real_decays, real_points
from .scales import Points, Scales, compare_scales, draw_scales, judge_scales


class LongTime(NamedTuple):
    """Ends over init scales, and decays on Gaussian data, on real data, and on Gaussian data whitened alike."""

    ends: Scales
    gaussian: list[rates.Decay]
    real: list[rates.Decay]
    control: list[rates.Decay]
    source: str


def compute(label: str, lab: Lab, p: SimpleNamespace) -> LongTime:
    """Take ends and decays on Gaussian data from the figures that show them, and train on real data."""
    case3 = ends.compute("fig:fixedpoint_case3", lab, read_parameters("ends", quick=lab.quick))
    known = rates.decays_at(lab, read_parameters("rates", quick=lab.quick), p.aspect_ratio)
    white = expression_of(p)
    alike = gaussian_like(white, p.key)
    gaussian = Points("Gaussian data", case3.at, case3.mean["test_error"], case3.stderr["test_error"], case3.trials)
    return LongTime(
        compare_scales(p, [gaussian, real_points(lab, p, white)]),
        known,
        real_decays(lab, p, white, f"real-decays-{name_of(p)}", known),
        real_decays(lab, p, alike, f"control-decays-{name_of(p)}", known),
        name_of(p),
    )


def draw(label: str, data: LongTime) -> Any:
    """Draw ends, decays on Gaussian data, decays on real data."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(7.2, 2.5))
    draw_scales(panels[0], data.ends)
    rates.draw_decays(panels[1], data.gaussian)
    _draw_control(panels[2], data.control)
    rates.draw_decays(panels[2], data.real, words="limit, Gaussian")
    panels[1].set_title("Gaussian data")
    panels[2].set_title(f"real data ({data.source})")
    for panel, letter in zip(panels, "abc", strict=True):
        panel.set_title(f"({letter})", loc="left")
    return figure


def _draw_control(panel: Any, control: list[rates.Decay]) -> None:
    for index, decay in enumerate(control):
        runs = decay.runs
        shown = (runs.times > 0.0) & (runs.value > rates.LOWEST)
        words = "Gaussian, whitened" if index == 0 else None
        draw_runs(panel, runs.times, runs, shown, log=True, fmt="x", color="0.5", label=words)


def judge(label: str, data: LongTime) -> list[Verdict]:
    """Judge fixed points and decays; real data by the order of init scales, by theory, and by the control."""
    panel = "fig:convergencerate_real"
    return [
        *judge_scales("fig:fixedpoint", data.ends),
        *rates.judge_decays("fig:convergencerate", data.gaussian),
        rates.judge_order(panel, data.real),
        _judge_faster(panel, data),
        _judge_control(panel, data),
    ]


def _judge_faster(panel: str, data: LongTime) -> Verdict:
    """The paper: real data deviate from theory, and converge sooner, as their covariance lies closer to one."""
    later, stderr = _later(data.gaussian, data.real)
    words = f"least log ratio of times, Gaussian over real, in standard errors (a factor {np.exp(later.min()):.2g})"
    claim = "real data deviate from theory: they converge sooner"
    return Verdict(panel, claim, words, float((later / stderr).min()), 5.0, "above")


def _judge_control(panel: str, data: LongTime) -> Verdict:
    """The paper's reason, tested: Gaussian data whitened on as many samples converge as soon."""
    later, stderr = _later(data.real, data.control)
    claim = "the reason is whitening on few samples: Gaussian data whitened alike converge as soon"
    return judge_deviations(panel, claim, "log times of convergence", later / stderr, len(data.real[0].trials))


def _later(first: list[rates.Decay], second: list[rates.Decay]) -> tuple[Numbers, Numbers]:
    """Return by how much the first ones converge later, as a logarithm for each init scale, with its standard error."""
    logs = [[np.log(decay.ended) for decay in decays] for decays in (first, second)]
    means = [np.array([own.mean() for own in every]) for every in logs]
    variances = [np.array([own.var(ddof=1) / len(own) for own in every]) for every in logs]
    return means[0] - means[1], np.sqrt(variances[0] + variances[1])
