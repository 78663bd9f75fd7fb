"""`flowlimit fixed-point`, `rate` and `timescales`: where gradient flow ends, how fast, and through which phases."""

from typing import Any

from .grammar import Problem, takes_problem
from .output import Json, Out, check_new, give

LEVELS = (0.0, 0.1)
LATER = (2.0, 5.0, 10.0, 20.0)


@takes_problem
def fixed_point(problem: Problem, out: Out = None, as_json: Json = False) -> None:
    """Print the errors at which gradient flow ends, and how much of the target's support it finds."""
    import flowlimit as fl

    check_new(out)
    point = fl.fixed_point(problem.model, problem.task)
    give(point, as_json=as_json, out=out, text=_describe_point(point))


@takes_problem
def rate(problem: Problem, out: Out = None, as_json: Json = False) -> None:
    """Print the rate at which gradient flow reaches its end."""
    import flowlimit as fl

    check_new(out)
    give(fl.convergence_rate(problem.model, problem.task), as_json=as_json, out=out)


@takes_problem
def timescales(problem: Problem, out: Out = None, as_json: Json = False) -> None:
    """Print when the phases of learning come: lazy and rich from large starts, search and descent from small ones."""
    import flowlimit as fl

    check_new(out)
    times = fl.timescales(problem.model, problem.task)
    give(times, as_json=as_json, out=out, text=_describe_times(times))


def _describe_point(point: Any) -> str:
    if point.case == "threshold":
        return f"{point}"
    lines = [f"{point}", f"P(w = 0) {float(point.atom):.4f}"]
    for level in LEVELS:
        found, wrong = float(point.true_positive_rate(level)), float(point.false_positive_rate(level))
        lines.append(f"|w| > {level:g}: true positives {found:.4f}, false positives {wrong:.4f}")
    return "\n".join(lines)


def _describe_times(times: Any) -> str:
    lines = [f"{times}"]
    if times.regime == "small" and float(times.model.init_scale) < 1.0:
        lines.append("share of coordinates past their descent time:")
        for t in (float(times.search) * later for later in LATER):
            learnt, wrong = float(times.learnt(t)), float(times.false_alarms(t))
            lines.append(f"t = {t:8.4g}: targets {learnt:.4f}, others {wrong:.4f}")
    return "\n".join(lines)
