"""Last test errors over the init scale: theory as a line, runs on some kinds of data as points."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ...asymptotics.fixed_point import fixed_point
from ...problem.models import DiagonalLinear
from ...sweeps.verb import sweep
from ..lines import Numbers
from ..setting import task_of
from ..verdict import Verdict, judge_deviations

SMOOTH = 60
MARKERS = "os^"


class Points(NamedTuple):
    """Last test errors of runs over init scales, on one kind of data."""

    words: str
    scales: Numbers
    mean: Numbers
    stderr: Numbers
    trials: int


class Scales(NamedTuple):
    """Theory over a fine axis, and runs on each kind of data with theory at their points."""

    fine: Numbers
    theory: Numbers
    points: list[Points]
    expected: list[Numbers]


def compare_scales(p: SimpleNamespace, points: list[Points]) -> Scales:
    """Put theory beside runs."""
    fine = np.geomspace(0.1, 10.0, SMOOTH)
    return Scales(fine, _errors(p, fine), points, [_errors(p, own.scales) for own in points])


def _errors(p: SimpleNamespace, scales: Numbers) -> Numbers:
    over = {"model.init_scale": scales}
    return sweep(fixed_point, DiagonalLinear(1.0), task_of(p, p.aspect_ratio), over=over)["test_error"].to_numpy()


def draw_scales(panel: Any, data: Scales) -> None:
    """Draw one panel."""
    panel.plot(data.fine, data.theory, color="black", label="theory")
    for own, marker in zip(data.points, MARKERS, strict=False):
        panel.errorbar(own.scales, own.mean, own.stderr, fmt=marker, label=own.words)
    panel.set(xscale="log", xlabel=r"init scale $\alpha$", ylabel="last test error")
    panel.legend()


def judge_scales(panel: str, data: Scales) -> list[Verdict]:
    """Judge each kind of data by theory, and theory by what the paper says of its trend."""
    verdicts = [
        judge_deviations(
            panel,
            f"the fixed point gives the test error of long runs: {own.words}",
            "test errors",
            (own.mean - expected) / own.stderr,
            own.trials,
        )
        for own, expected in zip(data.points, data.expected, strict=True)
    ]
    rise = float((np.diff(data.theory) / data.theory[1:]).min())
    words = "least relative rise of theory from one init scale to the next"
    claim = "smaller initialisations have smaller test errors at the fixed point"
    return [*verdicts, Verdict(panel, claim, words, rise, 0.0, "above")]
