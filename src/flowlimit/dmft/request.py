"""What a solver of limits is asked for, and what it answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from ..numerics.deadline import Deadline
from ..numerics.devices import Devices
from ..problem.flow import Flow, make_flow
from ..problem.models import Model
from ..problem.requests import Observables, positions_of
from ..problem.tasks import Task
from ..problem.trainings import Training
from ..results import Kernels, Limit, Operators, Outcome, PathSample, SolveStats
from ..types import PRNGKey, Times
from .ending import FindEnding, unknown_ending

Saves = Float[np.ndarray, "saves"]
Report = Callable[[float, str], Any]


@dataclass(frozen=True, kw_only=True)
class SolverRequest:
    """A problem, and how its limit is wanted.

    Parameters
    ----------
    model, task, training
        The problem, checked: the task has a limit, functions of a user work on one coordinate.
    rtol
        Relative accuracy of the two errors at two standard errors.
    key
        For all randomness.
    save_at
        Times at which curves are wanted, None for those of the training's clock; `saves` has them as an array.
    observables
        Pairs of a name and a function ``(w, w_star) -> number``, each wanted as a curve of coordinate averages.
    memory_limit
        Bytes that the solve may add to the process.
    devices
        Devices to spread work over; None for the default one.
    start
        An earlier limit to begin from, if any.
    deadline
        Raises `OutOfTimeError` from ``deadline.check()`` once the user's time is over; look at it often.
    ending
        Returns the two errors that the training tends to, if they are known.
    report
        Call ``report(fraction, message)`` now and then: it is True if the user wants the solve to end.
    """

    model: Model
    task: Task
    training: Training
    rtol: float
    key: PRNGKey
    save_at: Times | None = None
    observables: Observables = ()
    memory_limit: float = float("inf")
    devices: Devices | None = None
    start: Limit | None = None
    deadline: Deadline = field(default_factory=lambda: Deadline(None))
    ending: FindEnding = unknown_ending
    report: Report = lambda fraction, message: False

    @cached_property
    def flow(self) -> Flow:
        """The problem as one flow of the paper's class, eq. (flow_general)."""
        return make_flow(self.model, self.task, self.training)

    @property
    def save_count(self) -> int:
        """How many times curves are wanted at, known without making them."""
        return self.training.clock.save_count if self.save_at is None else np.size(self.save_at)

    @cached_property
    def saves(self) -> Saves:
        """Times at which curves are wanted, ascending."""
        clock = self.training.clock
        return clock.times_at(positions_of("save_at", self.save_at, clock))


@dataclass(frozen=True, kw_only=True)
class SolverAnswer:
    """Curves with their errors, as a solver found them.

    Parameters
    ----------
    outcome
        How the solve ended; successful unless given.
    values
        Name -> array of shape (replicas, saves), whose mean over replicas is the curve; ``train_error`` and
        ``test_error`` at least. Empty if there is no answer.
    statistical, bias, time_error
        Name -> the three parts of the curve's standard error at the saved times; 0 for curves without an entry.
    kernels, operators, paths
        Correlations and responses, the matrices behind them, and paths of the single site, if the solver has them.
    stats
        How the answer was found.
    """

    outcome: Outcome = field(default_factory=Outcome)
    values: Mapping[str, Float[np.ndarray, "replicas saves"]] = field(default_factory=dict)
    statistical: Mapping[str, Saves] = field(default_factory=dict)
    bias: Mapping[str, Saves] = field(default_factory=dict)
    time_error: Mapping[str, Saves] = field(default_factory=dict)
    kernels: Kernels | None = None
    operators: Operators | None = None
    paths: PathSample | None = None
    stats: SolveStats = field(default_factory=SolveStats)
