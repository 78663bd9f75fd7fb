"""The verb `conform`."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ...numerics.precision import own_settings
from ...numerics.streams import as_key
from ...problem.checks import integer
from ...problem.models import Model
from ...problem.noun import Noun, from_dict
from ...problem.tasks import Task
from ...problem.trainings import GradientDescent, Training
from ...results import Limit, Runs
from ..compare import compare
from ..simulate import simulate
from ..solve import solve_dmft
from .loop import train_error_by_loop

LOOP_TIMES = 6
LOOP_PART = {"steps": 1e-9, "flow": 1e-5}
"""By how much, relative to its initial value, the loop's training error may differ."""
FEWER_STEPS = 20
"""Steps of the coarser of two descents that tend to a flow."""
MOST_DIM = 10**5
"""Of runs that a plain loop repeats."""
CURVATURE = 0.35
"""Part of an error of order 1 that its next order may have at this number of steps."""


@dataclass(frozen=True)
class ConformanceRow:
    """One check, whether it passed, and what was found."""

    name: str
    passed: bool
    found: str


@dataclass(frozen=True, repr=False)
class Conformance:
    """What `conform` found, with the limit and the runs it compared."""

    checks: tuple[ConformanceRow, ...]
    limit: Limit
    runs: Runs

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return all(check.passed for check in self.checks)

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        word = lambda check: "passed" if check.passed else "FAILED"
        return "\n".join(f"{word(check)}  {check.name}: {check.found}" for check in self.checks)


@own_settings()
def conform(
    model: Model,
    task: Task,
    training: Training,
    *,
    dim: int = 400,
    trials: int = 20,
    rtol: float = 5e-2,
    key: int = 0,
    time_limit: float | None = None,
) -> Conformance:
    """Check that a problem's definition, its runs and its limit agree.

    Four checks: nouns survive being taken apart and written as dictionaries; `simulate` does what a plain loop does;
    the limit agrees with runs within 4 combined standard errors; and, for a flow, gradient descent tends to it at order
    1 in the step.

    Parameters
    ----------
    model, task, training
        The problem, with a model or a loss of your own.
    dim, trials
        Size of the runs that the limit is compared with. At a small dim a finite-size effect may show.
    rtol, key, time_limit
        As in `solve_dmft`.

    Examples
    --------
    >>> import flowlimit as fl
    >>> cubic = fl.Reparametrized(weight=lambda theta: theta**3, init=0.8)
    >>> task = fl.Regression(2.0, noise_var=0.1, target=fl.Bernoulli(0.3))
    >>> fl.conform(cubic, task, fl.GradientDescent(0.1, num_steps=10), dim=200).passed
    True
    """
    dim = integer("dim", at_least=1, at_most=MOST_DIM, example=400)(dim)
    trials = integer("trials", at_least=2, example=20)(trials)
    key = integer("key", at_least=0, at_most=2**63 - 2, example=0)(key)  # the runs have the next one
    problem = (model, task, training)
    limit = solve_dmft(*problem, rtol=rtol, key=key, time_limit=time_limit)
    runs = simulate(*problem, dim=dim, trials=trials, key=key + 1)
    checks = [_round_trip(problem), _loop(problem, dim, runs, key + 1), _runs(limit, runs)]
    if not training.clock.in_steps:
        checks.append(_small_steps(model, task, limit, rtol, key))
    return Conformance(tuple(checks), limit, runs)


def _round_trip(problem: tuple[Noun, ...]) -> ConformanceRow:
    lost, functions = [], 0
    for noun in problem:
        leaves, structure = jax.tree.flatten(noun)
        described = noun.to_dict()
        if jax.tree.unflatten(structure, leaves).to_dict() != described:
            lost.append(f"{noun!r} changes when it is taken apart")
        if "'function'" in str(described):
            functions += 1
        elif from_dict(described).to_dict() != described:
            lost.append(f"{noun!r} changes as a dictionary")
    as_found = f"of {len(problem)} nouns" + (
        f", {functions} with functions, which dictionaries only name" if functions else ""
    )
    return ConformanceRow("round trip", not lost, "; ".join(lost) or as_found)


def _loop(problem: tuple[Model, Task, Training], dim: int, runs: Runs, key: int) -> ConformanceRow:
    """Compare trial 0 of the runs with a loop at a few of its times."""
    index = np.unique(np.linspace(0, len(runs.times) - 1, LOOP_TIMES).round().astype(int))
    by_loop = train_error_by_loop(*problem, dim, as_key(key), runs.times[index])
    apart = float(np.abs(runs.values["train_error"][0][index] - by_loop).max() / np.abs(by_loop[0]))
    allowed = LOOP_PART["steps" if runs.discrete else "flow"]
    return ConformanceRow("simulate against a loop", apart <= allowed, f"{apart:.1e} apart, {allowed:g} allowed")


def _runs(limit: Limit, runs: Runs) -> ConformanceRow:
    compared = compare(limit, runs)
    name, time, size = compared.worst
    return ConformanceRow(
        "limit against runs", compared.passed, f"at worst {size:.1f} standard errors ({name} at time {time:.4g})"
    )


def _small_steps(model: Model, task: Task, flow: Limit, rtol: float, key: Any) -> ConformanceRow:
    """Compare the test errors of two descents with the flow's at its last time: e(h) = 2 e(h/2) to the next order."""
    horizon, errors, spread = float(flow.times[-1]), [], []
    for steps in (FEWER_STEPS, 2 * FEWER_STEPS):
        descent = solve_dmft(model, task, GradientDescent(horizon / steps, num_steps=steps), rtol=rtol, key=key)
        errors.append(float(descent.test_error[-1] - flow.test_error[-1]))
        spread.append(float(np.hypot(descent.test_error_stderr[-1], flow.test_error_stderr[-1])))
    rest, bar = abs(errors[0] - 2.0 * errors[1]), 4.0 * float(np.hypot(spread[0], 2.0 * spread[1]))
    found = f"{errors[0]:+.2e} and {errors[1]:+.2e} with {FEWER_STEPS} and {2 * FEWER_STEPS} steps"
    return ConformanceRow("descent tends to the flow", rest <= CURVATURE * abs(errors[0]) + bar, found)
