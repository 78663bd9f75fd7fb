"""The record of a finite-size experiment: several trials, their mean and its standard error."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from .answer import Answer
from .labelled import curves_dataset, dataset, parts_dataset, samples_dataset
from .outcome import Outcome
from .record import Curve, Times
from .runs_table import read_columns, runs_table
from .spread import standard_error
from .stats import RunStats


@dataclass(frozen=True, repr=False, eq=False)
class Runs(Answer):
    """Finite-size runs of one problem.

    Every curve is an attribute with its standard error: ``runs.test_error`` and ``runs.test_error_stderr``,
    ``runs.loss``, ``runs.norm_1``, or the name of an observable.

    Attributes
    ----------
    times
        Saved times.
    values
        Name of a curve -> array of shape (trials, times).
    discrete
        True for gradient descent: nothing exists between the steps.
    result
        Outcome code and message; the message is empty on success.
    stats
        Counters and settings of the computation (seconds, steps, tolerance, devices): see `RunStats`.
    provenance
        Version, key and problem as a plain dictionary.
    time_error
        Name of a curve -> error of the integration in time, where there is one; part of the standard error.
    weights, weights_times, w_star
        Weights of shape (trials, weights_times, dim) and targets (trials, dim), with an axis for several outputs or
        teachers before the last, if ``weights_at`` was given.
    model, task, training
        The nouns that were simulated; the task is a `Dataset` if one was given. None if the runs were read from a file
        and they hold functions or data, which files do not keep: give them to `fl.load`.
    """

    times: Times
    values: Mapping[str, Float[np.ndarray, "trials times"]]
    discrete: bool
    result: Outcome = field(default_factory=Outcome)
    stats: RunStats = field(compare=False, default_factory=RunStats)
    provenance: Mapping[str, Any] = field(compare=False, default_factory=dict)
    time_error: Mapping[str, Times] = field(default_factory=dict)
    weights: Float[np.ndarray, "trials saved *outputs dim"] | None = None
    weights_times: Float[np.ndarray, "saved"] | None = None
    w_star: Float[np.ndarray, "trials *teachers dim"] | None = None
    model: Any = field(compare=False, default=None)
    task: Any = field(compare=False, default=None)
    training: Any = field(compare=False, default=None)

    @classmethod
    def from_dataframe(cls, frame: Any, *, discrete: bool = False) -> "Runs":
        """Return runs that were made elsewhere, from a table with one row per time and trial, to compare and to draw.

        Columns are ``time``, then curves by name, such as ``train_error`` and ``test_error``, and ``trial`` if there
        are several; all trials have the same times. ``discrete`` says that nothing exists between the times. The table
        may be a pandas data frame or a dictionary of columns.

        Examples
        --------
        >>> runs = Runs.from_dataframe({"time": [0.0, 1.0], "train_error": [1.0, 0.5], "test_error": [1.0, 0.8]})
        >>> runs.trials, runs.test_error.tolist()
        (1, [1.0, 0.8])
        """
        return cls(*runs_table(frame), discrete=discrete)

    @classmethod
    def from_csv(cls, path: Any, *, discrete: bool = False) -> "Runs":
        """Return runs that were made elsewhere, from a file with the columns of `from_dataframe`."""
        return cls(*runs_table(read_columns(path)), discrete=discrete)

    @property
    def trials(self) -> int:
        """Number of trials."""
        return len(next(iter(self.values.values())))

    @cached_property
    def curves(self) -> Mapping[str, Curve]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Means over trials with their standard errors (NaN for a single trial), time error included."""
        return {name: _mean(value, self.time_error.get(name)) for name, value in self.values.items()}

    def numbers(self) -> dict[str, Any]:
        """Return times, curves and errors, the errors of every trial, and weights where they were kept."""
        trials = {f"{name}_trials": self.values[name] for name in ("train_error", "test_error") if name in self.values}
        kept = {"weights": self.weights, "w_star": self.w_star}
        return super().numbers() | trials | {name: value for name, value in kept.items() if value is not None}

    def _groups(self) -> dict[str, Any]:
        """Return the groups of the tree: curves, trials, the error in time, and weights where they were kept."""
        own = {"curves": curves_dataset(self), "trials": samples_dataset(self, "trial")}
        if self.time_error:
            own["errors/time_error"] = parts_dataset(self.times, self.time_error)
        if self.weights is not None:
            arrays: list[Any] = [("weights", _axes(self.weights, "trial", "time", "output"), self.weights)]
            arrays += [] if self.w_star is None else [("w_star", _axes(self.w_star, "trial", "teacher"), self.w_star)]
            own["weights"] = dataset(arrays, {"time": self.weights_times})
        return own

    def _heading(self) -> list[str]:
        """Return lines that say what this is."""
        size = f"{self.trials} trial{'s' * (self.trials != 1)}, dim {self.problem.get('dim', '?')}"
        lines = [f"Runs: {size}, {self.stats.draws} draws"]
        lines += [f"  {text}" for text in self._summary()]
        if self.stats.rtol is not None:
            lines.append(f"  integrated by {self.stats.solver}, weights to a relative {self.stats.rtol:g}")
        if self.result.message:
            lines.append(f"  {self.result.code}: {self.result.message}")
        return lines


def _axes(values: np.ndarray, *before: str) -> tuple[str, ...]:
    """Return names for the axes of an array over coordinates; one output or teacher has no axis."""
    return (*before[: values.ndim - 1], "coordinate")


def _mean(value: Float[np.ndarray, "trials times"], time_error: Times | None) -> Curve:
    if not len(value):
        return Curve(np.full(value.shape[1], np.nan), np.full(value.shape[1], np.nan))
    # A diverged trial has infinities: its mean is infinite and its error unknown, and numpy need not warn of that.
    with np.errstate(invalid="ignore", over="ignore"):
        mean = value.mean(axis=0)
        stderr = standard_error(value)
    return Curve(mean, stderr if time_error is None else np.hypot(stderr, time_error))
