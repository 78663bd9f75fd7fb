"""The paper's section "Overview of main findings": each of its claims as a row, from the experiments of the figures."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ...asymptotics.fixed_point import fixed_point
from ...problem.models import DiagonalLinear
from ..lab import Lab
from ..lines import Numbers
from ..parameters import read_parameters
from ..setting import task_of
from ..verdict import Verdict
from . import phases, rates, table
from .scales import Scales, compare_scales, judge_scales
from .stories import Stories, log_clock, tell_stories


class Overview(NamedTuple):
    """What the claims are judged by."""

    large: Stories
    small: Stories
    atom: float
    row: table.Row
    ends: Scales
    decays: list[rates.Decay]
    gamma: Numbers
    """Over the same init scales as the ends."""


def compute(label: str, lab: Lab, p: SimpleNamespace) -> Overview:
    """Take the experiments of the figures."""
    read = lambda name: read_parameters(name, quick=lab.quick)
    own = read("timescales")
    end = fixed_point(DiagonalLinear(own.large[-1], weight_decay=own.weight_decay), task_of(own, own.aspect_ratio))
    row = table.row_of(read("table"), 0.0, p.aspect_ratio)
    ends = compare_scales(p, [])
    gamma = rates.gamma_over(p, ends.fine, p.aspect_ratio)
    decays = rates.decays_at(lab, read("rates"), p.aspect_ratio)
    large, small = (tell_stories(lab, own, group) for group in ("large", "small"))
    return Overview(large, small, float(end.atom), row, ends, decays, gamma)


def draw(label: str, data: Overview) -> Any:
    """Return no picture: the figures show it."""
    return None


def judge(label: str, data: Overview) -> list[Verdict]:
    """Judge the claims in the paper's order."""
    zeros = "share of weights that are 0 at the fixed point"
    return [
        phases.judge_lazy(label, data.large),
        *_judge_memorising(label, data.large),
        phases.judge_transition(label, data.large),
        Verdict(label, "the rich phase makes weights sparse", zeros, data.atom, 0.5, "above"),
        phases.judge_plateau(label, data.small),
        phases.judge_collapse(label, data.small, "train_error", log_clock, phases.DESCENT),
        phases.judge_one_by_one(label, data.small),
        table.judge_end(label, data.row),
        *judge_scales(label, data.ends),
        rates.judge_late(label, data.decays)[0],
        rates.judge_gamma(label, [data.gamma]),
        _judge_trade(label, data),
    ]


def _judge_memorising(label: str, large: Stories) -> list[Verdict]:
    """Look at the lazy plateau of the largest init scale: data are fitted, the test error is far above its last."""
    story = large.stories[-1]
    at = lambda name: float(np.interp(0.5 * float(story.phases.rich), story.times, story.limit[name].value))
    train, test = at("train_error") / story.limit["train_error"].value[0], at("test_error")
    fitted = "training error on the lazy plateau, over its initial value"
    poorly = "test error on the lazy plateau, over its last value"
    last = story.limit["test_error"].value[-1]
    return [
        Verdict(label, "in the lazy phase the loss falls quickly", fitted, train, 0.01),
        Verdict(label, "but the model generalizes poorly", poorly, test / last, 1.2, "above"),
    ]


def _judge_trade(label: str, data: Overview) -> Verdict:
    both = (np.diff(data.ends.theory) > 0.0) & (np.diff(data.gamma) > 0.0)
    words = "share of neighbouring init scales where the larger one is faster and generalizes worse"
    note = "at aspect ratio 0.5; below 0.3 and close to 1 the best init scale is not the smallest"
    return Verdict(label, "speed is traded for generalization", words, float(both.mean()), 1.0, "above", note)
