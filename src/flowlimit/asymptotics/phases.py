"""Phases on a curve: the transitions that theory predicts, beside those a limit or runs show.

What counts as a transition, written down once:

- lazy: the training error has fallen halfway from its initial value to that at the end of the lazy phase;
- rich: the test error is halfway between its plateau (at the geometric mean of the lazy and the rich time) and its
  value at the fixed point; predicted twice, see `Timescales.rich_sharp`;
- descent: a coordinate with w* != 0 has reached |w| = |w*|/2; the median over those that do within the record. In a
  limit each path is compared with its own prediction, and the median of the ratios is given.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from ..numerics.precision import own_settings
from ..problem.checks import instance, shown
from ..results import ClosedForm, Limit, Record, Runs
from .case import init_scale
from .fixed_point import fixed_point
from .lazy import lazy_errors
from .timescales import Timescales, timescales

TINY = 1e-300
Paths = Float[np.ndarray, "paths"]
Table = Float[np.ndarray, "times paths"]


@dataclass(frozen=True, repr=False, eq=False)
class Phases(ClosedForm):
    """Transition times by name; NaN where a record shows none: too late a first time, too early an end, no weights.

    ``ratio`` is detected over predicted.
    """

    ARRAYS: ClassVar = dict.fromkeys(("predicted", "detected", "ratio"), "phase")
    LABELS: ClassVar = {"phase": "names"}

    predicted: Mapping[str, float]
    detected: Mapping[str, float]
    ratio: Mapping[str, float]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the phases."""
        return tuple(self.predicted)

    def __repr__(self) -> str:
        lines = [f"{'phase':10s} {'predicted':>10s} {'detected':>10s} {'ratio':>7s}"]
        for name, ratio in self.ratio.items():
            lines.append(f"{name:10s} {self.predicted[name]:10.4g} {self.detected[name]:10.4g} {ratio:7.3f}")
        return "\n".join(lines)


@own_settings()
def label_phases(record: Limit | Runs) -> Phases:
    """Return the transitions of a limit or runs: predicted by `timescales`, and detected.

    Detection is defined in `flowlimit.asymptotics.phases`. The descent of a limit is predicted path by path from the
    path's z (`descent_times`); that of runs, from the law of z(0), needs weights: ``simulate(..., weights_at=times)``.

    Examples
    --------
    >>> import flowlimit as fl
    >>> task = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    >>> problem = fl.DiagonalLinear(100.0, weight_decay=0.5), task
    >>> runs = fl.simulate(*problem, fl.GradientFlow(60.0), dim=100, trials=2, key=0)
    >>> sorted(fl.label_phases(runs).predicted)
    ['lazy', 'rich', 'rich_sharp']
    """
    instance("record", (Limit, Runs), "fl.simulate(...)")(record)
    times = _times_of(record)
    if times.regime == "large":
        return _large(record, times)
    if isinstance(record, Limit):
        return _descent_of_limit(record, times)
    return _phases({"descent": float(times.descent)}, {"descent": _descent_of_runs(record)})


@own_settings()
def descent_times(limit: Limit) -> Paths:
    """Return when each path of a limit leaves 0, from its own z; infinite if it never does.

    The least t with ``|int_0^t (z/delta - w* + int R_f w*)| - lambda t = 2 log(1/alpha)``: the paper's descent time,
    with the absolute value outside.

    Examples
    --------
    >>> import flowlimit as fl
    >>> model, task = fl.DiagonalLinear(0.1), fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    >>> limit = fl.solve_dmft(model, task, fl.GradientFlow(2.0), rtol=5e-2)
    >>> bool((fl.descent_times(limit) > 1.0).all())
    True
    """
    instance("limit", Limit, "fl.solve_dmft(...)")(limit)
    if limit.paths is None or limit.operators is None:
        raise ValueError(f"limit: given one without paths or operators ({limit.unkept})")
    times = _times_of(limit)
    paths, own = limit.paths, limit.operators
    seen = 1.0 - own.R_f @ np.ones(len(own.times))
    push = own.S @ (paths.z / float(times.task.aspect_ratio) - seen[:, None] * paths.w_star[None, :])
    grown = np.abs(push) - float(times.model.weight_decay) * own.times[:, None]
    level = -2.0 * np.log(float(init_scale(times.model)))
    return crossing_times(own.times, grown, np.full(len(paths.w_star), level))


def _times_of(record: Limit | Runs) -> Timescales:
    """Return the timescales of a record's problem, or refuse features of unequal variances."""
    times = timescales(record.noun("model"), record.noun("task"))
    if times.task.feature_law is not None:
        raise TypeError(
            f"record: given one of {shown(times.task)}; phases are told for features of equal variance, needs target= "
            f"in place of features=; fl.timescales and fl.small_init_path take these features"
        )
    return times


def learning_times(times: Float[np.ndarray, "times"], w: Table, w_star: Paths) -> Paths:
    """Return when each coordinate first reaches |w| = |w*|/2; weights grow exponentially, so their logs are joined."""
    log = lambda x: np.log(np.maximum(np.abs(x), TINY))
    return crossing_times(times, log(w), log(w_star / 2.0))


def crossing_times(times: Float[np.ndarray, "times"], values: Table, levels: Paths) -> Paths:
    """Return the first time at which each column reaches its level, interpolated linearly; infinite if never."""
    reached = values >= levels[None, :]
    after = reached.argmax(axis=0)
    before = np.maximum(after - 1, 0)
    column = np.arange(values.shape[1])
    low, high = values[before, column], values[after, column]
    share = np.where(high > low, (levels - low) / np.where(high > low, high - low, 1.0), 1.0)
    found = times[before] + share * (times[after] - times[before])
    return np.where(reached.any(axis=0), found, np.inf)


def _large(record: Record, times: Timescales) -> Phases:
    lazy, rich = float(times.lazy), float(times.rich)
    early = np.geomspace(1e-3, 1e3, 400)
    start_to_end = lazy_errors(times.task, np.array([0.0, np.inf])).train_error
    predicted = {"lazy": lazy * _crossing(early, lazy_errors(times.task, early).train_error, start_to_end.mean())}
    after = record.times > 0.0
    t = record.times[after]
    detected = {"lazy": _crossing(t, record.train_error[after], start_to_end.mean())}
    if np.isfinite(rich) and len(t):
        plateau = float(np.interp(0.5 * np.log(lazy * rich), np.log(t), record.test_error[after]))
        late = t > np.sqrt(lazy * rich)
        middle = 0.5 * (plateau + float(fixed_point(times.model, times.task).test_error))
        predicted |= {"rich": rich, "rich_sharp": float(times.rich_sharp)}
        detected |= dict.fromkeys(("rich", "rich_sharp"), _crossing(t[late], record.test_error[after][late], middle))
    return _phases(predicted, detected)


def _crossing(times: np.ndarray, values: np.ndarray, level: float) -> float:
    """Return the first time at which a curve crosses a level, from either side; NaN if it does not."""
    if not len(times):
        return np.nan
    sign = 1.0 if values[0] < level else -1.0
    found = crossing_times(times, sign * values[:, None], np.array([sign * level]))[0]
    return float(found) if np.isfinite(found) else np.nan


def _descent_of_limit(limit: Limit, times: Timescales) -> Phases:
    if limit.paths is None:
        return _phases({"descent": float(times.descent)}, {"descent": np.nan})
    paths, predicted = limit.paths, descent_times(limit)
    detected = learning_times(paths.times, paths.w, paths.w_star)
    both = (paths.w_star != 0.0) & np.isfinite(predicted) & np.isfinite(detected)
    median = lambda values: {"descent": _median(values, paths.probability[both])}
    predicted, detected = predicted[both], detected[both]
    return Phases(median(predicted), median(detected), median(detected / predicted))


def _descent_of_runs(runs: Runs) -> float:
    """Return the median over all trials' coordinates with w* != 0."""
    if runs.weights is None or runs.weights_times is None or runs.w_star is None:
        return np.nan
    w = np.moveaxis(runs.weights, 1, 0).reshape(len(runs.weights_times), -1)
    found = learning_times(runs.weights_times, w, runs.w_star.ravel())
    found = found[(runs.w_star.ravel() != 0.0) & np.isfinite(found)]
    return _median(found, np.ones(len(found)))


def _phases(predicted: dict[str, float], detected: dict[str, float]) -> Phases:
    return Phases(predicted, detected, {name: detected[name] / predicted[name] for name in predicted})


def _median(values: Paths, probability: Paths) -> float:
    """Return the weighted median; NaN of none."""
    if not len(values):
        return np.nan
    order = np.argsort(values)
    share = np.cumsum(probability[order]) / probability.sum()
    return float(values[order][np.searchsorted(share, 0.5)])
