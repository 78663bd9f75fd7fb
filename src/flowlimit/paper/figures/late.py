"""Late curves: the rate and the power of t that they show, from the limit where it is resolved, else from runs.

After 1/gamma the logarithm of an excess is fitted by a constant, a term 1/t, and either -2 g t, the power -3/2 given,
or p log t with gamma given. What the term 1/t changes bounds what the next one would.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...results.spread import standard_error
from ..lines import Line, Numbers

LATE, LAST = 1.0, 4.0
"""Times that are fitted, in units of 1/gamma."""
ENDED = 2.5
"""Time before the end of runs at which their excess over their last value counts as known, in units of 1/gamma."""
RESOLVED = 0.1
"""Relative standard error below which a limit's excess is fitted."""
FEWEST = 6
"""Times that a fit needs."""
SURE = 3.0
"""Standard errors of fits to trials that belong to the bound."""


class Quantity(NamedTuple):
    """What is fitted: the column of its coefficient, what is added to the logarithm before, and what theory says."""

    column: Callable[[float, Numbers], Numbers]
    added: Callable[[float, Numbers], Numbers]
    expected: float


RATE = Quantity(lambda gamma, t: -2.0 * gamma * t, lambda gamma, t: 1.5 * np.log(t), 1.0)
"""The rate over 2 gamma."""
POWER = Quantity(lambda gamma, t: np.log(t), lambda gamma, t: 2.0 * gamma * t, -1.5)


class Fitted(NamedTuple):
    """How far a coefficient is from what theory says, and how far it may be."""

    off: float
    bound: float


def fit_limit(quantity: Quantity, gamma: float, limit: Line) -> Fitted | None:
    """Fit a limit; None where it is not resolved. Its standard errors count as if they all pulled one way."""
    late = limit.times * gamma >= LATE
    times, value, stderr = limit.times[late], limit.value[late], limit.stderr[late]
    if late.sum() < FEWEST or (stderr > RESOLVED * value).any():
        return None
    fit, rough, weights = _coefficients(quantity, gamma, times)
    log = np.log(value) + quantity.added(gamma, times)
    pulled = float(np.abs(weights) @ (stderr / value))
    return Fitted(abs(fit(log) - quantity.expected), abs(fit(log) - rough(log)) + pulled)


def fit_trials(quantity: Quantity, gamma: float, times: Numbers, trials: np.ndarray) -> Fitted | None:
    """Fit each trial; None where they are too short."""
    late = (times * gamma >= LATE) & (times * gamma <= min(LAST, times[-1] * gamma - ENDED))
    if late.sum() < FEWEST or (trials[:, late] <= 0.0).any():
        return None
    fit, rough, _ = _coefficients(quantity, gamma, times[late])
    logs = np.log(trials[:, late]) + quantity.added(gamma, times[late])
    found, simpler = (np.array([one(log) for log in logs]) for one in (fit, rough))
    stderr = float(standard_error(found))
    return Fitted(abs(found.mean() - quantity.expected), abs(found.mean() - simpler.mean()) + SURE * stderr)


def _coefficients(quantity: Quantity, gamma: float, times: Numbers) -> tuple[Callable, Callable, Numbers]:
    """Return the coefficient as a function of logarithms, with the term 1/t and without, and the former's weights."""
    columns = np.stack([quantity.column(gamma, times), np.ones(len(times)), 1.0 / times], axis=1)
    weights, simpler = np.linalg.pinv(columns)[0], np.linalg.pinv(columns[:, :2])[0]
    return (lambda log: float(weights @ log)), (lambda log: float(simpler @ log)), weights
