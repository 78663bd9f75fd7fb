"""`fl.scaling`: by which power an error falls with time, samples or dim, and where it does not fall by a power."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from ..numerics.powers import FEWEST, Power, crossover, find_powers, local_slopes
from ..numerics.precision import own_settings
from ..problem.checks import number, shown, vector
from ..results import ClosedForm, Record, uncertain

Values = Float[np.ndarray, "points"]
AXES = ("time", "aspect_ratio", "dim")
ADDRESSES = {"aspect_ratio": ("task.aspect_ratio",), "dim": ("task.features.dim", "dim")}


class Curve(NamedTuple):
    """Points of a curve, in rising order."""

    x: Values
    value: Values
    stderr: Values


@dataclass(frozen=True, repr=False, eq=False)
class Scaling(ClosedForm):
    """How a curve scales.

    Attributes
    ----------
    along, name
        What it is a curve in, and of.
    x, value, stderr
        The curve, less what was taken away, ``less``.
    slope, slope_stderr
        Local slopes of its logarithm; NaN where too few points are near.
    powers
        Ranges on which a power holds, each with start, stop, exponent, stderr and prefactor, in rising order. The
        standard error has the errors of the points, and how much local slopes vary over the range.
    """

    WORDS = ("along", "name")
    NUMBERS = ("less",)
    ARRAYS: ClassVar = dict.fromkeys(("value", "stderr", "slope", "slope_stderr"), "point")
    LABELS: ClassVar = {"point": "x"}

    along: str
    name: str
    x: Values
    value: Values
    stderr: Values
    slope: Values
    slope_stderr: Values
    powers: tuple[Power, ...]
    less: float
    tolerance: float

    @property
    def plateaus(self) -> tuple[Power, ...]:
        """Ranges on which the curve stays where it is: exponents up to the tolerance in size."""
        return tuple(one for one in self.powers if abs(one.exponent) <= self.tolerance)

    @property
    def crossovers(self) -> tuple[float, ...]:
        """Where one power, or plateau, gives way to the next."""
        return tuple(crossover(*pair) for pair in pairwise(self.powers))

    @property
    def exponent(self) -> float:
        """Of the longest range that is no plateau; refused if there is none."""
        return self._longest().exponent

    @property
    def exponent_stderr(self) -> float:
        """Standard error of `exponent`."""
        return self._longest().stderr

    def _longest(self) -> Power:
        falling = [one for one in self.powers if one not in self.plateaus]
        if not falling:
            raise ValueError(
                f"scaling: given a curve of {len(self.x)} points on which no power holds; look at .slope, or give a "
                f"longer curve, a larger tolerance= or fewer decades="
            )
        return max(falling, key=lambda one: one.stop / one.start)

    def __repr__(self) -> str:
        lines = [f"{self.name} along {self.along}, {self.x[0]:.4g} to {self.x[-1]:.4g}:"]
        for one in self.powers:
            kind = "plateau" if one in self.plateaus else f"power {uncertain(one.exponent, one.stderr)}"
            lines.append(f"  {one.start:.4g} to {one.stop:.4g}: {kind}")
        if self.crossovers:
            lines.append(f"  crossovers at {', '.join(f'{x:.4g}' for x in self.crossovers)}")
        if not self.powers:
            known = self.slope[np.isfinite(self.slope)]
            lines.append(f"  no power holds: local slopes go from {known[0]:.3g} to {known[-1]:.3g}")
        return "\n".join(lines)


@own_settings()
def scaling(
    what: Any,
    *problem: Any,
    along: str = "time",
    at: Sequence[float] | np.ndarray | None = None,
    name: str = "test_error",
    less: float = 0.0,
    between: tuple[float, float] | None = None,
    window: float = 0.5,
    tolerance: float = 0.03,
    decades: float = 1.0,
    **options: Any,
) -> Scaling:
    """Find the powers by which an error falls, with error bars, by local slopes.

    An exponent is given where local slopes agree over ``decades`` at least, and nowhere else: crossovers and plateaus
    are found, not averaged over.

    Parameters
    ----------
    what
        A limit or runs (along time); a list of results or a sweep (along aspect ratio or dim); or a verb, with its
        problem after it, that is asked at every point of ``at``.
    problem
        Model, task and training, for a verb.
    along
        "time"; "aspect_ratio", which at a fixed dim is the number of samples; or "dim" of a `PowerLaw`, at a fixed
        aspect ratio.
    at
        Where a verb is asked; not for time.
    name
        Of the error.
    less
        What is taken away from it first: what it falls to, e.g. the variance of the noise.
    between
        Two ends of what is looked at; all of the curve unless given.
    window
        Decades over which a local slope is taken.
    tolerance
        By which slopes on a range may lie away from each other's middle, besides their errors.
    decades
        Least length of a range.
    options
        For a verb, e.g. ``rtol=1e-3``.

    Examples
    --------
    >>> import flowlimit as fl
    >>> task = fl.Regression(0.1, noise_var=0.0, features=fl.PowerLaw(100_000, capacity=2.5, source=3.0))
    >>> lazy = fl.DiagonalLinear(1e5)  # a linear model, whose error falls like 1/samples^(source - 1) here
    >>> found = fl.scaling(fl.fixed_point, lazy, task, along="aspect_ratio", at=np.geomspace(3e-4, 3e-2, 17))
    >>> round(found.exponent, 1)
    -2.0
    """
    if along not in AXES:
        raise ValueError(f"along: given {shown(along)}, needs one of {', '.join(AXES)}")
    less = float(number("less")(less))
    window, tolerance, decades = (
        float(number(word, above=0.0, example=example)(value))
        for word, value, example in (("window", window, 0.5), ("tolerance", tolerance, 0.03), ("decades", decades, 1.0))
    )
    curve = _curve(what, problem, along, at, name, options)
    x, value, stderr = _looked_at(curve, less, between)
    slopes = local_slopes(x, value, stderr, window=window)
    if not np.isfinite(slopes.slope).any():
        raise ValueError(
            f"window: given {window:g} decades, in which no {FEWEST} points of this curve lie; needs more points, or a "
            f"wider window="
        )
    powers = find_powers(x, value, stderr, slopes, tolerance=tolerance, decades=decades)
    return Scaling(along, name, x, value, stderr, *slopes, tuple(powers), less, tolerance)


def _curve(what: Any, problem: tuple[Any, ...], along: str, at: Any, name: str, options: dict[str, Any]) -> Curve:
    """Return the curve of whatever was given."""
    asked = callable(what)
    if asked and not problem:
        raise ValueError(f"what: given {shown(what)} without a problem, needs its model and task after it")
    if not asked and (problem or options or at is not None):
        raise ValueError(
            "what: given a result beside a problem, at= or options, which only a verb takes; leave them out"
        )
    if along == "time":
        if at is not None:
            raise ValueError("at: given beside along='time', needs save_at= of the verb in its place")
        return _in_time(what(*problem, **options) if asked else what, name)
    if asked:
        if at is None:
            raise ValueError(f"at: given none, needs values of {along}, e.g. at=np.geomspace(0.01, 1.0, 20)")
        points = np.asarray(vector("at", above=0.0, example="[0.01, 0.1, 1.0]")(at))
        model, task, *rest = problem
        results = [what(model, _moved(task, along, point), *rest, **options) for point in points.tolist()]
        return _sorted(points, results, name)
    if isinstance(what, list | tuple):
        return _sorted(np.array([_where(one, along) for one in what]), what, name)
    return _of_table(what, along, name)


def _in_time(record: Any, name: str) -> Curve:
    if not isinstance(record, Record):
        raise TypeError(f"what: given {shown(record)}, needs a limit or runs for along='time', e.g. fl.solve_dmft(...)")
    if name not in record.curves:
        raise ValueError(f"name: given {name!r}, needs one of {', '.join(record.curves)}")
    held_from = getattr(getattr(record, "stats", None), "held_from", None)  # from there on a curve shows no slope
    later = (record.times > 0.0) & (record.times <= (np.inf if held_from is None else held_from))
    curve = record[name]
    return Curve(record.times[later], curve.value[later], curve.stderr[later])


def _moved(task: Any, along: str, value: float) -> Any:
    if along == "aspect_ratio":
        return task.replaced(aspect_ratio=value)
    if not hasattr(task.feature_law, "dim"):
        raise ValueError(f"along: given 'dim', but {shown(task)} has none; needs features=fl.PowerLaw(dim, ...)")
    return task.replaced(features=task.feature_law.replaced(dim=round(value)))


def _where(result: Any, along: str) -> float:
    task = getattr(result, "task", None)
    if task is None or (along == "dim" and not hasattr(task.feature_law, "dim")):
        raise TypeError(f"what: given {shown(result)}, which does not say its {along}; give the verb and at= instead")
    return float(task.aspect_ratio if along == "aspect_ratio" else task.feature_law.dim)


def _sorted(x: Values, results: Sequence[Any], name: str) -> Curve:
    order = np.argsort(x)
    pairs = np.array([_value(one, name) for one in results])[order]
    return Curve(x[order], pairs[:, 0], pairs[:, 1])


def _value(result: Any, name: str) -> tuple[float, float]:
    """Return the last value of a record's curve, or a closed form's number."""
    if isinstance(result, Record):
        return float(result[name].value[-1]), float(result[name].stderr[-1])
    if not hasattr(result, name):
        raise ValueError(f"name: given {name!r}, which {shown(result)} does not have")
    return float(np.ravel(np.asarray(getattr(result, name)))[-1]), 0.0


def _of_table(table: Any, along: str, name: str) -> Curve:
    """Return a sweep's column; every other axis must have one value."""
    if not hasattr(table, "points"):
        raise TypeError(f"what: given {shown(table)}, needs a limit, runs, a list of results, a sweep or a verb")
    column = table[name].squeeze()
    axis = next((address for address in ADDRESSES[along] if address in column.dims), None)
    if axis is None or column.ndim != 1:
        raise ValueError(
            f"what: given a sweep over {', '.join(map(str, column.dims))}, needs one over {ADDRESSES[along][0]} alone"
        )
    error = f"{name}_stderr"
    stderr = np.asarray(table[error].squeeze()) if error in table.points else np.zeros(column.size)
    x = np.asarray(column[axis], dtype=float)
    order = np.argsort(x)
    return Curve(x[order], np.asarray(column)[order], stderr[order])


def _looked_at(curve: Curve, less: float, between: tuple[float, float] | None) -> Curve:
    """Return the part of a curve that is looked at, less what was asked for; it must be above 0 there."""
    low, high = (0.0, np.inf) if between is None else (float(end) for end in between)
    inside = (curve.x >= low * (1.0 - 1e-9)) & (curve.x <= high * (1.0 + 1e-9))
    x, value, stderr = (np.asarray(part, dtype=float)[inside] for part in curve)
    if len(x) < FEWEST:
        raise ValueError(
            f"what: given {len(x)} points to look at, needs at least {FEWEST}; widen between=, or give more"
        )
    value = value - less
    if not (value > 0.0).all():
        first = x[np.argmin(value > 0.0)]
        raise ValueError(
            f"less: given {less:g}, which leaves {value.min():.3g} at {first:.4g}; needs a curve above it: give "
            f"between= two ends where it is, or another less="
        )
    return Curve(x, value, np.nan_to_num(stderr))
