"""The record of a finite-size experiment: several trials, their mean and its standard error."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from .outcome import Outcome
from .record import Curve, Record, Times, store_attributes
from .spread import standard_error

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, repr=False)
class Runs(Record):
    """Finite-size runs of one problem.

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
        Counters and settings of the computation (seconds, steps, tolerance, devices).
    provenance
        Version, key and problem as a plain dictionary.
    time_error
        Name of a curve -> error of the integration in time, where there is one; part of the standard error.
    weights, weights_times, w_star
        Weights of shape (trials, weights_times, dim) and targets (trials, dim), with an axis for several outputs or
        teachers before the last, if ``weights_at`` was given.
    """

    times: Times
    values: Mapping[str, Float[np.ndarray, "trials times"]]
    discrete: bool
    result: Outcome = field(default_factory=Outcome)
    stats: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    time_error: Mapping[str, Times] = field(default_factory=dict)
    weights: Float[np.ndarray, "trials saved *outputs dim"] | None = None
    weights_times: Float[np.ndarray, "saved"] | None = None
    w_star: Float[np.ndarray, "trials *teachers dim"] | None = None

    @property
    def trials(self) -> int:
        """Number of trials."""
        return len(next(iter(self.values.values())))

    @cached_property
    def curves(self) -> Mapping[str, Curve]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Means over trials with their standard errors (NaN for a single trial), time error included."""
        return {name: _mean(value, self.time_error.get(name)) for name, value in self.values.items()}

    def to_xarray(self) -> "xarray.Dataset":
        """Return a labelled data set with axes trial and time, and provenance in its attributes."""
        import xarray as xr

        variables: dict[str, Any] = {name: (("trial", "time"), value) for name, value in self.values.items()}
        coords: dict[str, Any] = {"time": ("time", self.times), "trial": ("trial", np.arange(self.trials))}
        if self.weights is not None:
            output = ("output",) * (self.weights.ndim - 3)
            variables["weights"] = (("trial", "weights_time", *output, "coordinate"), self.weights)
            coords["weights_time"] = ("weights_time", self.weights_times)
        for name, value in self.time_error.items():
            variables[f"{name}_time_error"] = (("time",), value)
        if self.w_star is not None:
            teacher = ("teacher",) * (self.w_star.ndim - 2)
            variables["w_star"] = (("trial", *teacher, "coordinate"), self.w_star)
        return xr.Dataset(variables, coords, store_attributes(self))

    def __repr__(self) -> str:
        problem = self.provenance.get("problem", {})
        head = f"Runs: {self.trials} trial{'s' * (self.trials != 1)}, dim {problem.get('dim', '?')}"
        lines = [head, *(f"  {self.provenance['summary'][key]}" for key in self.provenance.get("summary", {}))]
        if "rtol" in self.stats:
            lines.append(f"  integrated by {self.stats['solver']}, weights to a relative {self.stats['rtol']:g}")
        if self.result.message:
            lines.append(f"  {self.result.code}: {self.result.message}")
        return "\n".join([*lines, self.table()])


def _mean(value: Float[np.ndarray, "trials times"], time_error: Times | None) -> Curve:
    if not len(value):
        return Curve(np.full(value.shape[1], np.nan), np.full(value.shape[1], np.nan))
    # A diverged trial has infinities: its mean is infinite and its error unknown, and numpy need not warn of that.
    with np.errstate(invalid="ignore", over="ignore"):
        mean = value.mean(axis=0)
        stderr = standard_error(value)
    return Curve(mean, stderr if time_error is None else np.hypot(stderr, time_error))
