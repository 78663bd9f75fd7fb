"""Compare two results: deviations in combined standard errors, the worst point, and a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ..problem.checks import instance, names_of, number, vector
from ..results import Comparable, Curve, Record, uncertain

TIMES = 10
COMPARED = ("train_error", "test_error")


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Comparable):
    """How far two results are apart at some times.

    Attributes
    ----------
    times
        Compared times.
    first, second
        Name of a curve -> its values with standard errors at these times.
    deviations
        Name of a curve -> (second - first) over the combined standard error.
    threshold
        Standard errors that pass.
    """

    times: Float[np.ndarray, "times"]
    first: Mapping[str, Curve]
    second: Mapping[str, Curve]
    deviations: Mapping[str, Float[np.ndarray, "times"]]
    threshold: float

    @property
    def worst(self) -> tuple[str, float, float]:
        """The curve, time and size of the largest deviation; one that is not a number counts as infinite."""
        sizes = {name: np.nan_to_num(np.abs(d), nan=np.inf) for name, d in self.deviations.items()}
        name = max(sizes, key=lambda name: sizes[name].max())
        index = int(sizes[name].argmax())
        return name, float(self.times[index]), float(sizes[name][index])

    @property
    def passed(self) -> bool:
        """Whether all deviations are within the threshold."""
        return self.worst[2] <= self.threshold

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        name, time, size = self.worst
        verdict = "agree" if self.passed else "DISAGREE"
        lines = [
            f"{verdict}: at worst {size:.1f} standard errors ({name} at time {time:.4g}), {self.threshold:g} allowed"
        ]
        for name, deviation in self.deviations.items():
            lines.append(f"{name}:")
            for i, t in enumerate(self.times):
                one, two = self.first[name], self.second[name]
                pair = [uncertain(float(c.value[i]), float(c.stderr[i])) for c in (one, two)]
                lines.append(f"  t = {t:<9.4g} {pair[0]:>16} {pair[1]:>16} {deviation[i]:+6.1f}")
        return "\n".join(lines)


def compare(
    limit: Record,
    runs: Record,
    *,
    at: Sequence[float] | np.ndarray | None = None,
    names: Sequence[str] = COMPARED,
    threshold: float = 4.0,
) -> Comparison:
    """Compare a limit with runs, or any two results in time, at some times.

    Parameters
    ----------
    limit, runs
        Two results with curves of the same names.
    at
        Times; ten on a log grid up to the end of both unless given, steps for gradient descent.
    names
        Curves to compare.
    threshold
        Combined standard errors that pass.

    Examples
    --------
    >>> import flowlimit as fl
    >>> task = fl.Regression(2.0, noise_var=0.1, target=fl.Normal())
    >>> problem = fl.Linear(), task, fl.GradientDescent(0.5, num_steps=20)
    >>> comparison = fl.compare(fl.solve_dmft(*problem), fl.simulate(*problem, dim=200, trials=10, key=1))
    >>> comparison.passed
    True
    """
    for name, one in (("limit", limit), ("runs", runs)):
        instance(name, Record, "fl.solve_dmft(...)")(one)
        if not len(one.times):
            raise ValueError(f"{name}: given one without times, needs one with curves; see its .result for why")
    names = names_of("names", names, "['test_error']")
    number("threshold", above=0.0, example=4.0)(threshold)
    missing = [name for name in names for one in (limit, runs) if name not in one.curves]
    if missing:
        raise ValueError(f"names: given {missing[0]!r}, which one of the results does not have; leave it out of names=")
    times = _times(limit, runs) if at is None else np.asarray(vector("at", example="[1.0, 10.0]")(at))
    first, second = (one.at(times) for one in (limit, runs))
    deviations = {}
    for name in names:
        one, two = first[name], second[name]
        difference, scale = two.value - one.value, np.hypot(one.stderr, two.stderr)
        # Two curves without spread (a start that is not random) agree if they are equal up to rounding.
        equal = np.abs(difference) <= 1e-12 * np.abs(one.value)
        with np.errstate(divide="ignore", invalid="ignore"):
            deviations[name] = np.where(equal, 0.0, difference / scale)
    pick = lambda record: {name: record[name] for name in names}
    return Comparison(first.times, pick(first), pick(second), deviations, threshold)


def _times(limit: Record, runs: Record) -> Float[np.ndarray, "times"]:
    end = min(limit.times[-1], runs.times[-1])
    shared = np.intersect1d(np.round(limit.times, 12), np.round(runs.times, 12))
    shared = shared[(shared > 0.0) & (shared <= end)]
    if len(shared) < TIMES:
        if limit.discrete or runs.discrete:
            return shared
        begin = max(one.times[one.times > 0.0][0] for one in (limit, runs))
        return np.geomspace(begin, end, TIMES)
    wanted = np.geomspace(max(shared[0], 1e-2 * end), end, TIMES)
    return np.unique(shared[np.abs(shared[None, :] - wanted[:, None]).argmin(axis=1)])
