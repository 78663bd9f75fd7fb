"""The paper's table of long-time behaviour, computed: which minimiser training ends at, and how fast it gets there."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ...asymptotics.fixed_point import fixed_point
from ...asymptotics.minimizer import minimizer
from ...asymptotics.rate import convergence_rate
from ...problem.laws import Bernoulli
from ...problem.models import DiagonalLinear
from ...problem.tasks import Regression
from ...verbs.draw import draw as draw_data
from ..lab import Lab
from ..verdict import Verdict

WORDS = {"lasso": "l1-regularized", "ridgeless": "ridgeless", "interpolating": "minimum norm"}


class Row(NamedTuple):
    """One line of the table: a problem, its end by theory and by convex minimisation, and its rate."""

    weight_decay: float
    aspect_ratio: float
    end: str
    kind: str
    better: bool
    """Whether the test error falls with the init scale."""
    slower: bool
    deviation: float
    """Of the minimisers' mean test error from the fixed point's, in standard errors; the worst init scale."""


def compute(label: str, lab: Lab, p: SimpleNamespace) -> list[Row]:
    """Compute each line from its equations and from minimisers at finite size."""
    problems = [(p.weight_decay, ratio) for ratio in p.ratios] + [(0.0, ratio) for ratio in p.ratios]
    return [_row(p, decay, ratio) for decay, ratio in problems]


def _row(p: SimpleNamespace, decay: float, ratio: float) -> Row:
    task = Regression(ratio, p.noise_var, Bernoulli(p.probability))
    models = [DiagonalLinear(scale, weight_decay=decay) for scale in p.init_scales]
    points = [fixed_point(model, task) for model in models]
    rates = [convergence_rate(model, task) for model in models]
    errors = np.array([float(point.test_error) for point in points])
    found = [
        [minimizer(model, draw_data(task, dim=p.dim, key=p.key, trial=trial)).test_error for trial in range(p.trials)]
        for model in models
    ]
    mean, spread = np.mean(found, axis=1), np.std(found, axis=1, ddof=1) / np.sqrt(p.trials)
    gammas = np.array([float(rate.gamma) for rate in rates])
    return Row(
        decay,
        ratio,
        WORDS[points[0].case],
        rates[0].kind,
        bool(errors[0] < errors[-1] * (1.0 - 1e-9)),
        bool(gammas[0] < gammas[-1]),
        float(np.max(np.abs(mean - errors) / spread)),
    )


def draw(label: str, data: list[Row]) -> Any:
    """Return no picture: a table is text."""
    return None


def judge(label: str, data: list[Row]) -> list[Verdict]:
    """Judge each line: the minimiser it ends at, and what the paper says of rate and start."""
    verdicts = []
    for row in data:
        where = f"lambda {'> 0' if row.weight_decay else '= 0'}, delta {'> 1' if row.aspect_ratio > 1.0 else '< 1'}"
        words = "largest deviation of minimisers at finite size from the fixed point, in standard errors"
        verdicts.append(Verdict(label, f"{where}: ends at the {row.end} solution", words, row.deviation, 4.0))
        exponential = row.kind == "exponential"
        expected = row.weight_decay == 0.0
        words = "whether the rate is " + ("exponential" if expected else "sub-exponential")
        claim = f"{where}: " + ("exponential, slower from smaller starts" if expected else "sub-exponential")
        right = exponential == expected and (row.slower or not expected)
        verdicts.append(Verdict(label, claim, words, float(right), 1.0, "above"))
    best = next(row for row in data if row.weight_decay == 0.0 and row.aspect_ratio < 1.0)
    words = "whether the test error falls with the init scale"
    verdicts.append(
        Verdict(label, "lambda = 0, delta < 1: better from smaller starts", words, float(best.better), 1.0, "above")
    )
    return verdicts
