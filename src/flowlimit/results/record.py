"""Curves in time with error bars: what every time-dependent result shares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from .format import uncertain
from .spread import standard_error

Times = Float[np.ndarray, "times"]
FEWEST_TIMES = 6
"""Saved times that interpolation needs: its error is judged by leaving out every other one."""


@dataclass(frozen=True)
class Curve:
    """Values at the times of a record, with standard errors (NaN where unknown)."""

    value: Times
    stderr: Times


class Best(NamedTuple):
    """Where a curve is smallest: its time and value, each with its standard error over replicas or trials."""

    time: float
    time_stderr: float
    value: float
    value_stderr: float


class Record:
    """A result with curves in time. `Runs` and, later, `Limit` are records; `at` returns one."""

    times: Times
    """Times of the curves."""
    curves: Mapping[str, Curve]
    """Every curve by name: errors, loss, norms and the user's observables."""
    discrete: bool
    """Whether time runs in steps, so that nothing exists between the times."""

    def __getitem__(self, name: str) -> Curve:
        try:
            return self.curves[name]
        except KeyError:
            raise KeyError(f"no curve {name!r}; there are {', '.join(self.curves)}") from None

    @property
    def train_error(self) -> Times:
        """Mean of (y - x.w)^2 over the training samples."""
        return self["train_error"].value

    @property
    def train_error_stderr(self) -> Times:
        """Standard error of `train_error`."""
        return self["train_error"].stderr

    @property
    def test_error(self) -> Times:
        """Mean of (y - x.w)^2 over new samples, noise included."""
        return self["test_error"].value

    @property
    def test_error_stderr(self) -> Times:
        """Standard error of `test_error`."""
        return self["test_error"].stderr

    def at(self, times: float | Sequence[float] | np.ndarray) -> "Curves":
        """Curves at given times.

        Saved times are returned as they are. Between them a flow's curves are interpolated (shape-preserving cubics in
        log time) and the difference to the interpolant on every other time is added to the standard error. Gradient
        descent has no values between its steps: other times are refused.
        """
        wanted = np.atleast_1d(np.asarray(times, dtype=float))
        if not len(self.times) or not wanted.size:
            raise ValueError(
                f"{wanted.size} times were asked for of a record with {len(self.times)}; both need at least 1"
            )
        slack = 1e-9 * self.times[-1]
        if wanted.min() < self.times[0] - slack or wanted.max() > self.times[-1] + slack:
            raise ValueError(
                f"times {wanted.min():g} to {wanted.max():g} were asked for, but the record covers "
                f"{self.times[0]:g} to {self.times[-1]:g}; extend the horizon or save_at"
            )
        index = np.abs(self.times[None, :] - wanted[:, None]).argmin(axis=1)
        saved = np.isclose(self.times[index], wanted, rtol=1e-9, atol=0.0)
        picked = {name: Curve(curve.value[index], curve.stderr[index]) for name, curve in self.curves.items()}
        if saved.all():
            return Curves(self.times[index], picked, self.discrete)
        if self.discrete:
            missing = ", ".join(f"{t:g}" for t in wanted[~saved][:5])
            raise ValueError(f"no step was saved at time {missing}; ask for step times, or give them in save_at=")
        if len(self.times) < FEWEST_TIMES:
            raise ValueError(
                f"{len(self.times)} saved times are too few to interpolate between; save at least {FEWEST_TIMES}, or "
                f"ask for the times you need with save_at="
            )
        between = {name: _interpolate(self.times, curve, wanted) for name, curve in self.curves.items()}
        for name, curve in between.items():
            curve.value[saved], curve.stderr[saved] = picked[name].value[saved], picked[name].stderr[saved]
        return Curves(wanted, between, False)

    def best(self, name: str = "test_error") -> Best:
        """Return the time at which a curve is smallest, as early stopping would find it in each replica or trial.

        Standard errors are those of the means over replicas or trials; of a limit with its common errors at that time.
        Of runs, the mean of the smallest values is below the smallest mean value: stopping each by its own curve wins.
        """
        values = getattr(self, "values", {}).get(name)
        if values is None or not len(values) or not np.isfinite(values).all():
            raise ValueError(f"name: given {name!r}, needs a finite curve; there are {', '.join(self.curves)}")
        where = values.argmin(axis=1)
        times, smallest = self.times[where], values.min(axis=1)
        common = float(self.curves[name].stderr[int(np.median(where))]) if hasattr(self, "bias") else 0.0
        value_stderr = float(np.fmax(standard_error(smallest), common))
        return Best(float(times.mean()), float(standard_error(times)), float(smallest.mean()), value_stderr)

    def table(self, rows: int = 8) -> str:
        """Return a few rows of the curves as text, values as ``0.0519(2)``."""
        index = np.unique(np.linspace(0, len(self.times) - 1, min(rows, len(self.times))).round().astype(int))
        names = [name for name in self.curves if np.isfinite(self.curves[name].value).any()]
        cells = [["time", *names]]
        for i in index:
            row = [uncertain(float(self.curves[n].value[i]), float(self.curves[n].stderr[i])) for n in names]
            cells.append([f"{self.times[i]:.4g}", *row])
        widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)


@dataclass(frozen=True, repr=False)
class Curves(Record):
    """Curves alone, as `Record.at` returns them."""

    times: Times
    curves: Mapping[str, Curve]
    discrete: bool

    def __repr__(self) -> str:
        return self.table(rows=len(self.times))


def store_attributes(result: Any) -> dict[str, Any]:
    """Return what a stored result says of itself beside its arrays: kind, curves, outcome, stats, provenance."""
    import json

    return {
        "kind": type(result).__name__,
        "curves": list(result.values),
        "discrete": int(result.discrete),
        "result": str(result.result.code),
        "message": result.result.message,
        "stats": json.dumps(dict(result.stats)),
        "provenance": json.dumps(dict(result.provenance)),
    }


def _interpolate(times: Times, curve: Curve, wanted: Float[np.ndarray, "wanted"]) -> Curve:
    from scipy.interpolate import PchipInterpolator  # slow to import, rarely needed

    reached = np.isfinite(curve.value)
    if reached.sum() < FEWEST_TIMES:
        return Curve(np.full_like(wanted, np.nan), np.full_like(wanted, np.nan))
    last = times[reached][-1]
    times, curve = times[reached], Curve(curve.value[reached], curve.stderr[reached])
    scale = times[times > 0][0]
    x, x_wanted = np.log1p(times / scale), np.log1p(wanted / scale)
    value = PchipInterpolator(x, curve.value)(x_wanted)
    coarse = np.unique(np.r_[0 : len(x) : 2, len(x) - 1])
    rough = PchipInterpolator(x[coarse], curve.value[coarse])(x_wanted)
    stderr = np.interp(x_wanted, x, curve.stderr)
    known = wanted <= last  # a run that broke off has no values beyond
    return Curve(np.where(known, value, np.nan), np.where(known, np.hypot(stderr, np.abs(value - rough)), np.nan))
