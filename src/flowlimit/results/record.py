"""Curves in time with error bars: what every time-dependent result shares."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float

from .format import uncertain
from .html import curves_table, heading, some_rows
from .labelled import curves_dataframe, curves_dataset
from .same import Comparable
from .spread import standard_error

if TYPE_CHECKING:
    import pandas
    import xarray

Times = Float[np.ndarray, "times"]
FEWEST_TIMES = 6
"""Saved times that interpolation needs: its error is judged by leaving out every other one."""


@dataclass(frozen=True, eq=False)
class Curve(Comparable):
    """Values at the times of a record, with standard errors (NaN where unknown)."""

    value: Times
    stderr: Times


class Best(NamedTuple):
    """Where a curve is smallest: its time and value, each with its standard error over replicas or trials."""

    time: float
    time_stderr: float
    value: float
    value_stderr: float


class Record(Comparable):
    """A result with curves in time. `Limit` and `Runs` are records; `at` returns one.

    Every curve is an attribute, and so is its standard error: ``limit.norm_1``, ``limit.norm_1_stderr``, or the name of
    an observable. ``limit["norm_1"]`` is both, as a `Curve`.
    """

    times: Times
    """Times of the curves."""
    curves: Mapping[str, Curve]
    """Every curve by name: errors, loss, norms and the user's observables."""
    discrete: bool
    """Whether time runs in steps, so that nothing exists between the times."""
    train_error: Times
    """Mean of (y - x.w)^2 over the training samples."""
    train_error_stderr: Times
    """Standard error of `train_error`."""
    test_error: Times
    """Mean of (y - x.w)^2 over new samples, noise included."""
    test_error_stderr: Times
    """Standard error of `test_error`."""

    def numbers(self) -> dict[str, Any]:
        """Return times, curves and their standard errors by name: what tables, JSON and other programs read."""
        curves = {name: curve.value for name, curve in self.curves.items()}
        return {"time": self.times} | curves | {f"{name}_stderr": curve.stderr for name, curve in self.curves.items()}

    def __getitem__(self, name: str) -> Curve:
        try:
            return self.curves[name]
        except KeyError:
            raise KeyError(f"no curve {name!r}; there are {', '.join(self.curves)}") from None

    def __getattr__(self, name: str) -> Times:
        # Asked for what is no attribute. Without its fields, as while it is unpickled, a record has no curves.
        if name.startswith("__") or not {"values", "curves"} & vars(self).keys():
            raise AttributeError(name)
        curve, of = name.removesuffix("_stderr"), "stderr" if name.endswith("_stderr") else "value"
        if curve in self.curves:
            return getattr(self.curves[curve], of)
        near = difflib.get_close_matches(name, dir(self), n=1, cutoff=0.85)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        kind = type(self).__name__
        raise AttributeError(f"{kind} has no curve {name!r}; there are {', '.join(self.curves)}{hint}", name=name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.curves, *(f"{name}_stderr" for name in self.curves)]

    def to_xarray(self) -> "xarray.Dataset":
        """Return every curve with its standard error over time, with long names and units, as a labelled data set."""
        return curves_dataset(self)

    def to_dataframe(self) -> "pandas.DataFrame":
        """Return a tidy table of pandas: one row per time and curve, with columns time, curve, value and stderr."""
        return curves_dataframe(self)

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
        names = self._shown_curves()
        cells = [["time", *names]]
        for i in some_rows(len(self.times), rows):
            row = [uncertain(float(self.curves[n].value[i]), float(self.curves[n].stderr[i])) for n in names]
            cells.append([f"{self.times[i]:.4g}", *row])
        widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)

    def _shown_curves(self) -> list[str]:
        """Return the names of curves that have a value anywhere."""
        return [name for name in self.curves if np.isfinite(self.curves[name].value).any()]

    def _heading(self) -> list[str]:
        """Return lines that say what this is."""
        return [type(self).__name__]

    def __repr__(self) -> str:
        return "\n".join([*self._heading(), self.table()])

    def _repr_html_(self) -> str:
        return f"<div>{heading(self._heading())}{curves_table(self)}</div>"


@dataclass(frozen=True, repr=False, eq=False)
class Curves(Record):
    """Curves alone, as `Record.at` returns them."""

    times: Times
    curves: Mapping[str, Curve]
    discrete: bool

    def __repr__(self) -> str:
        return self.table(rows=len(self.times))


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
