"""`fl.check`: the limit beside runs at two sizes, with a verdict."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem.checks import integer, number, shown
from ..problem.models import Model
from ..problem.tasks import Task
from ..problem.trainings import Training
from ..results import Code, Estimate, Limit, Outcome, Runs
from ..results.outcome import FAILURES
from ..simulation import BALANCED, checked_draws
from .compare import Comparison, compare
from .progress import Progress
from .simulate import simulate
from .solve import solve_dmft


@dataclass(frozen=True, repr=False)
class Trust:
    """A limit, runs at some dims, and how far they are apart.

    Attributes
    ----------
    limit
        The limit.
    dims
        Sizes of the runs, smallest first.
    runs
        Runs at these sizes.
    comparisons
        Each of the runs with the limit; none if the limit or runs have no curves, see ``outcome``.
    """

    limit: Limit
    dims: tuple[int, ...]
    runs: tuple[Runs, ...]
    comparisons: tuple[Comparison, ...]

    @property
    def outcome(self) -> Outcome:
        """How it ended, if the limit or runs did not end well."""
        outcomes = [one.result for one in (self.limit, *self.runs)]
        return next((one for one in outcomes if one.code is not Code.SUCCESSFUL), Outcome())

    @property
    def failed(self) -> bool:
        """Whether there is nothing to judge: no limit, or no runs."""
        return not self.comparisons or self.outcome.code in FAILURES

    @property
    def passed(self) -> bool:
        """Whether runs of the largest dim agree with the limit; smaller ones may show the size they have."""
        return not self.failed and self.comparisons[-1].passed

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        if self.failed:
            return f"no verdict: {self.outcome.code}: {self.outcome.message}"
        lines = []
        for dim, comparison in zip(self.dims, self.comparisons, strict=True):
            name, time, size = comparison.worst
            lines.append(f"dim {dim}: at worst {size:.1f} standard errors ({name} at time {time:.4g})")
        sizes = [comparison.worst[2] for comparison in self.comparisons]
        threshold = self.comparisons[-1].threshold
        if not self.passed:
            verdict = f"DISAGREE: the largest dim is more than {threshold:g} standard errors from the limit"
        elif max(sizes) > threshold:
            verdict = "agree: the smaller dim shows its finite size, the larger one none"
        else:
            verdict = f"agree: all within {threshold:g} standard errors of the limit"
        return "\n".join([f"{self.comparisons[-1]!r}", *lines, verdict])


def check(
    model: Model,
    task: Task,
    training: Training,
    *,
    dims: Sequence[int] = (200, 800),
    trials: int = 20,
    rtol: float = 1e-2,
    time_limit: float | None = None,
    key: Any = 0,
    draws: str = BALANCED,
    threshold: float = 4.0,
    progress: Progress = None,
) -> Trust:
    """Solve the limit, train at some dims, and compare: how far the limit can be trusted for this problem.

    Without a limit, for example because its time was over, no runs are made: the result has no comparisons, did not
    pass, and its ``outcome`` is the limit's. ``progress`` is that of `solve_dmft` and `simulate`, one after the other.

    Examples
    --------
    >>> import flowlimit as fl
    >>> task = fl.Regression(aspect_ratio=2.0, noise_var=0.1, target=fl.Normal())
    >>> found = fl.check(fl.Linear(), task, fl.GradientDescent(0.5, num_steps=20), dims=(50, 200), trials=10)
    >>> found.passed
    True
    """
    if isinstance(dims, str | bytes) or not isinstance(dims, Iterable) or not list(dims):
        raise TypeError(f"dims: given {shown(dims)}, needs a list of sizes, e.g. dims=(200, 800)")
    sizes = sorted({integer("dims", at_least=2, example=200)(dim) for dim in dims})
    trials = integer("trials", at_least=2, example=20)(trials)
    checked_draws(draws)
    number("threshold", above=0.0, example=4.0)(threshold)
    nouns = (model, task, training)
    limit = solve_dmft(*nouns, rtol=rtol, time_limit=time_limit, key=key, progress=progress, throw=False)
    if not has_curves(limit) or limit.result.code is Code.STOPPED:
        return Trust(limit, tuple(sizes), (), ())
    options: Any = {"trials": trials, "key": key, "draws": draws, "save_at": limit.times}
    runs: list[Runs] = []
    for dim in sizes:
        runs.append(simulate(*nouns, dim=dim, **options, progress=progress, throw=False))
        if runs[-1].result.code is Code.STOPPED:
            break
    # one trial has no standard error to measure deviations by
    whole = len(runs) == len(sizes) and all(has_curves(one) and one.trials > 1 for one in runs)
    judged = runs if whole else []
    return Trust(limit, tuple(sizes), tuple(runs), tuple(compare(limit, one, threshold=threshold) for one in judged))


def has_curves(record: Limit | Runs | Estimate) -> bool:
    """Whether a limit, runs or an estimate hold any number: one whose time was over may hold none."""
    return all(np.size(value) for value in record.values.values())
