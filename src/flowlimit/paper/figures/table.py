"""The paper's table of long-time behaviour, computed: which minimiser training converges to, and how fast."""

from types import SimpleNamespace
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from ...asymptotics.minimizer import minimizer
from ...asymptotics.rate import convergence_rate
from ...problem.models import DiagonalLinear
from ...results.spread import standard_error
from ...verbs.draw import draw as draw_data
from ..lab import Lab
from ..lines import Numbers
from ..setting import task_of
from ..verdict import Verdict, judge_deviations

RISE = 1e-6
"""Least change that counts: far above what equations are solved to."""
SLOWEST = 1e-9
"""Least rate that counts as one."""
WORDS = {"lasso": "l1-regularized", "ridgeless": "ridgeless", "interpolating": "minimum norm"}


class Row(NamedTuple):
    """One line of the table: a problem, its fixed point by theory and by minimisation, and its rate; by init scale."""

    weight_decay: float
    aspect_ratio: float
    end: str
    init_scales: Numbers
    test_error: Numbers
    gamma: Numbers
    slow: float
    """Density of paths that converge arbitrarily slowly: errors fall like a power of t where it is positive."""
    deviations: Numbers
    """Of the minimisers' mean test errors from the fixed point's, in standard errors."""
    trials: int

    @property
    def where(self) -> str:
        """The case, in the paper's letters."""
        return f"lambda {'> 0' if self.weight_decay else '= 0'}, delta {'> 1' if self.aspect_ratio > 1.0 else '< 1'}"


def compute(label: str, lab: Lab, p: SimpleNamespace) -> list[Row]:
    """Compute each line from its equations and from minimisers at finite size."""
    problems = [(p.weight_decay, ratio) for ratio in p.ratios] + [(0.0, ratio) for ratio in p.ratios]
    return [row_of(p, decay, ratio) for decay, ratio in problems]


def row_of(p: SimpleNamespace, decay: float, ratio: float) -> Row:
    """Compute one line."""
    task = task_of(p, ratio)
    models = [DiagonalLinear(scale, weight_decay=decay) for scale in p.init_scales]
    rates = [convergence_rate(model, task) for model in models]
    errors = np.array([float(rate.point.test_error) for rate in rates])
    found = [
        [minimizer(model, draw_data(task, dim=p.dim, key=p.key, trial=trial)).test_error for trial in range(p.trials)]
        for model in models
    ]
    mean, spread = np.mean(found, axis=1), standard_error(np.asarray(found), axis=1)
    return Row(
        decay,
        ratio,
        WORDS[rates[0].point.case],
        np.array(p.init_scales),
        errors,
        np.array([float(rate.gamma) for rate in rates]),
        float(rates[0].path_density(jnp.zeros(()))) if decay > 0.0 else 0.0,
        (mean - errors) / spread,
        p.trials,
    )


def draw(label: str, data: list[Row]) -> str:
    """Return the table as Markdown: numbers are for each of the init scales."""
    scales = ", ".join(f"{scale:g}" for scale in data[0].init_scales)
    several = lambda numbers: ", ".join(f"{number:.4g}" for number in numbers)
    lines = [
        f"| case | fixed point | test error (init scale {scales}) | rate gamma (init scale {scales}) |",
        "|---|---|---|---|",
    ]
    for row in data:
        rate = several(row.gamma) if not row.weight_decay else "sub-exponential, t^-2"
        lines.append(f"| {row.where} | {row.end} | {several(row.test_error)} | {rate} |")
    return "\n".join(lines) + "\n"


def judge_end(label: str, row: Row) -> Verdict:
    """Judge which minimiser training converges to."""
    claim = f"{row.where}: converges to the {row.end} solution"
    return judge_deviations(label, claim, "minimisers from the fixed point", row.deviations, row.trials)


def judge(label: str, data: list[Row]) -> list[Verdict]:
    """Judge each line: the minimiser it converges to, and what the paper says of rate and init scale."""
    verdicts = []
    for row in data:
        verdicts.append(judge_end(label, row))
        verdicts += [_judge_slow(label, row)] if row.weight_decay else _judge_exponential(label, row)
    best = next(row for row in data if row.weight_decay == 0.0 and row.aspect_ratio < 1.0)
    rise = float(best.test_error[-1] / best.test_error[0] - 1.0)
    words = "relative rise of the test error with the init scale"
    return [*verdicts, Verdict(label, f"{best.where}: better from smaller initialisations", words, rise, RISE, "above")]


def _judge_slow(label: str, row: Row) -> Verdict:
    words = "density of paths that converge arbitrarily slowly, times lambda"
    return Verdict(label, f"{row.where}: sub-exponential", words, row.slow * row.weight_decay, RISE, "above")


def _judge_exponential(label: str, row: Row) -> list[Verdict]:
    slower = float(row.gamma[-1] / row.gamma[0] - 1.0)
    return [
        Verdict(label, f"{row.where}: exponential", "least rate gamma", float(row.gamma.min()), SLOWEST, "above"),
        Verdict(label, f"{row.where}: slower at smaller init scales", "relative rise of gamma", slower, RISE, "above"),
    ]
