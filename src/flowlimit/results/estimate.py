"""The record of a run whose test error was estimated from the run itself."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from .answer import Answer
from .format import uncertain
from .labelled import curves_dataset, dataset, parts_dataset, samples_dataset
from .outcome import Outcome
from .record import Curve, Times
from .stats import EstimateStats

PARTS = ("probes_error", "samples_error", "time_error")
"""Parts of a standard error."""


class Stopping(NamedTuple):
    """When to stop: the saved time at which the estimated test error is smallest, and what is known of it.

    ``low`` and ``high`` hold the best time with probability 0.95 at least: times beyond are told apart from the best
    one by draws of the estimate's errors; ``high`` is the last saved time where the end may be best. ``test_error`` and
    its standard error are those of the curve at ``time``; the smallest of many values is a little too small, which they
    leave out.
    """

    time: float
    low: float
    high: float
    test_error: float
    test_error_stderr: float

    def __repr__(self) -> str:
        error = uncertain(self.test_error, self.test_error_stderr)
        return f"Stopping(time={self.time:.4g}, from {self.low:.4g} to {self.high:.4g}, test_error={error})"


@dataclass(frozen=True, repr=False, eq=False)
class Estimate(Answer):
    """One training run on a user's data, with its test error estimated from that run alone.

    ``estimate.test_error`` and ``estimate.test_error_stderr`` are curves, as in every result, and so is the training
    error, whose standard error is that of its integration in time.

    Attributes
    ----------
    times
        Saved times.
    values
        Name of a curve -> array of shape (1, times).
    discrete
        True for gradient descent.
    probes_error, samples_error, time_error
        Name of a curve -> parts of its standard error: of the traces, by the number of probes; of the finite number of
        samples; and what panels leave unresolved in time. ``_stderr`` is their root sum of squares.
    weights, left_out
        At all saved times, the weights, of shape (times, dim), and for each sample the residual that it would have if
        it were left out of the training, of shape (times, samples): the test error is the mean of its squares.
    stopping
        When to stop: see `Stopping`. None if no time was reached.
    strains
        What of the data strains the theory, in words; these were warned of.
    result, stats, provenance
        How it ended, what it cost (see `EstimateStats`), and where it came from.
    model, task, training
        The nouns; the task is the `Dataset`.
    """

    times: Times
    values: Mapping[str, Float[np.ndarray, "1 times"]]
    discrete: bool
    probes_error: Mapping[str, Times]
    samples_error: Mapping[str, Times]
    time_error: Mapping[str, Times]
    weights: Float[np.ndarray, "times dim"]
    left_out: Float[np.ndarray, "times samples"]
    stopping: Stopping | None
    strains: tuple[str, ...] = ()
    result: Outcome = field(default_factory=Outcome)
    stats: EstimateStats = field(compare=False, default_factory=EstimateStats)
    provenance: Mapping[str, Any] = field(compare=False, default_factory=dict)
    model: Any = field(compare=False, default=None)
    task: Any = field(compare=False, default=None)
    training: Any = field(compare=False, default=None)

    @cached_property
    def curves(self) -> Mapping[str, Curve]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Curves with their standard errors, all parts included."""
        parts = (self.probes_error, self.samples_error, self.time_error)
        whole = lambda name: np.sqrt(sum(part[name] ** 2 for part in parts))
        return {name: Curve(value[0], whole(name)) for name, value in self.values.items()}

    @property
    def stopped_weights(self) -> Float[np.ndarray, "dim"]:
        """Weights at the time to stop."""
        if self.stopping is None:
            raise ValueError(f"estimate: it has no saved time to stop at: {self.result.code}: {self.result.message}")
        return self.weights[int(np.argmin(np.abs(self.times - self.stopping.time)))]

    def numbers(self) -> dict[str, Any]:
        """Return times, curves and errors, the parts of the errors, and when to stop."""
        parts = {f"{name}_{part}": getattr(self, part)[name] for part in PARTS for name in self.curves}
        stopping = {} if self.stopping is None else {f"stopping_{k}": v for k, v in self.stopping._asdict().items()}
        return super().numbers() | parts | stopping

    def _groups(self) -> dict[str, Any]:
        """Return the groups of the tree: curves, errors by part, and weights."""
        own = {"curves": curves_dataset(self), "run": samples_dataset(self, "trial")}
        own |= {f"errors/{part}": parts_dataset(self.times, getattr(self, part)) for part in PARTS}
        arrays = [("weights", ("time", "coordinate"), self.weights), ("left_out", ("time", "sample"), self.left_out)]
        return own | {"weights": dataset(arrays, {"time": self.times})}

    def _attributes(self) -> dict[str, Any]:
        """Return what the result says of itself beside its arrays, when to stop among it."""
        own = {"stopping": json.dumps(self.stopping), "strains": json.dumps(self.strains)}
        return super()._attributes() | own

    def _heading(self) -> list[str]:
        """Return lines that say what this is."""
        stats = self.stats
        lines = [f"Estimate: one run, {stats.samples} samples, dim {stats.dim}, {stats.probes} probes"]
        lines += [f"  {text}" for text in self._summary()]
        if self.stopping is not None:
            lines.append(f"  {self.stopping!r}")
        lines += [f"  strained: {text}" for text in self.strains]
        if self.result.message:
            lines.append(f"  {self.result.code}: {self.result.message}")
        return lines
