"""`flowlimit fixed-point`, `convergence-rate`, `timescales`: gradient flow at infinite time, its rate, its phases."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .grammar import Problem, takes_problem
from .output import Json, OutNumbers, check_outputs, end, give, say_unwritten

LEVELS = (0.0, 0.1)
LATER = (2.0, 5.0, 10.0, 20.0)
INFINITE = ("chi_w", "rich", "rich_sharp", "descent")
"""Numbers for which infinity is an answer."""
AT_THRESHOLD = ("test_error", "noise_std")
"""Those for which it is at aspect ratio 1."""
REGIMES = {"large": ("lazy", "rich", "rich_sharp"), "small": ("search", "descent")}
"""Timescales that a regime has; others need not exist."""


@takes_problem("fixed-point")
def fixed_point(problem: Problem, out: OutNumbers = None, as_json: Json = False) -> None:
    """Print the errors of gradient flow at infinite time, and how much of the target's support it finds."""
    import flowlimit as fl

    check_outputs(out, in_time=False)
    point = fl.fixed_point(problem.model, problem.task)
    _give(point, _describe_point, as_json, out)


@takes_problem("convergence-rate")
def convergence_rate(problem: Problem, out: OutNumbers = None, as_json: Json = False) -> None:
    """Print the rate at which gradient flow reaches its fixed point."""
    import flowlimit as fl

    check_outputs(out, in_time=False)
    _give(fl.convergence_rate(problem.model, problem.task), str, as_json, out)


@takes_problem("timescales")
def timescales(problem: Problem, out: OutNumbers = None, as_json: Json = False) -> None:
    """Print when phases come: lazy and rich from large initialisations, search and descent from small ones."""
    import flowlimit as fl

    check_outputs(out, in_time=False)
    times = fl.timescales(problem.model, problem.task)
    _give(times, _describe_times, as_json, out)


def _give(result: Any, describe: Callable[[Any], str], as_json: bool, out: Path | None) -> None:
    """Print and write a closed form whose numbers are numbers; end without an answer otherwise."""
    outcome = judge(result)
    if outcome.message:
        if as_json:
            give({"result": str(outcome.code), "message": outcome.message}, as_json=True)
        say_unwritten(out)
    else:
        give(result, as_json=as_json, out=out, text=describe(result))
    end(outcome)


def judge(result: Any) -> Any:
    """Return how a closed form ended: FAILED if it holds NaN, or infinity where none has a meaning."""
    import numpy as np

    from flowlimit.results import Code, Outcome
    from flowlimit.sweeps.rows import outcome_of, values_of

    values = values_of(result)
    if getattr(result, "regime", "") == "small" and np.isnan(result.learnt(result.search)):
        return Outcome(Code.FAILED, "descent does not exist: no coordinate of the target differs from 0")
    for name in REGIMES.get(getattr(result, "regime", ""), values):
        number = float(np.asarray(values[name]))
        endless = name in INFINITE or (getattr(result, "case", "") == "threshold" and name in AT_THRESHOLD)
        if np.isnan(number) or (np.isinf(number) and not (endless and number > 0.0)):
            return Outcome(Code.FAILED, f"{name} is {number}: it does not exist here, or not in double precision")
    return outcome_of(result, values)


def _describe_point(point: Any) -> str:
    if point.case == "threshold":
        return f"{point}"
    lines = [f"{point}", f"P(w = 0) {float(point.atom):.4f}"]
    for level in LEVELS:
        found, wrong = map(_share, (point.true_positive_rate(level), point.false_positive_rate(level)))
        lines.append(f"|w| > {level:g}: true positives {found}, false positives {wrong}")
    return "\n".join(lines)


def _describe_times(times: Any) -> str:
    import jax.numpy as jnp

    lines = [f"{times}"]
    if times.regime == "small" and float(times.model.init_scale) < 1.0:
        lines.append("share of coordinates past their descent time:")
        for t in (float(times.search) * later for later in LATER):
            learnt, wrong = map(_share, (times.learnt(jnp.asarray(t)), times.false_alarms(jnp.asarray(t))))
            lines.append(f"t = {t:8.4g}: targets {learnt}, others {wrong}")
    return "\n".join(lines)


def _share(value: Any) -> str:
    """Return a share of coordinates as text; of no coordinates there is none."""
    return "none" if math.isnan(value) else f"{float(value):.4f}"
