"""The late curve: theory's exponents and powers, with an amplitude fitted on an earlier stretch."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..numerics.precision import own_settings
from ..problem.checks import instance, number, shown
from ..results import ClosedForm, Curve, Curves, Limit, Runs
from .rate import Rate, convergence_rate

Terms = tuple[tuple[float, int], ...]
"""Multiples m and powers k of (x/gamma)^k e^(-m x t); the last one is not part of the answer, but judges its error."""
SQUARE: Terms = ((2.0, 0), (2.0, 1), (2.0, 2))
"""An error that is a square of what is left: the amplitude at the edge of the spectrum, and its slope."""
CROSS: Terms = ((1.0, -1), (2.0, 0), (1.0, 0))
"""A cross term with the fixed point (integrating e^(-xt) gives 1/x), and the square."""

Times = Float[np.ndarray, "times"]


@dataclass(frozen=True, repr=False, eq=False)
class Tail(ClosedForm):
    """A late curve: its limit and two integrals over the spectrum, whose amplitudes were fitted between two times.

    Attributes
    ----------
    name
        Of the curve.
    end
        Its value at t = infinity, from the fixed point.
    terms
        Multiples m and powers k: integrals of (x/gamma)^k e^(-m x t). At large t each is t^(-3/2) e^(-m gamma t) times
        a constant.
    amplitudes
        Of the terms.
    start, stop
        Where it was fitted.
    """

    WORDS = ("name",)
    NUMBERS = ("end", "start", "stop")
    ARRAYS: ClassVar = {"amplitudes": "term"}

    rate: Rate
    name: str
    end: float
    terms: Terms
    amplitudes: tuple[float, ...]
    finer: tuple[float, ...]
    start: float
    stop: float

    def __repr__(self) -> str:
        terms = ", ".join(
            f"{a:.4g} of (x/gamma)^{k} e^(-{m:g}xt)" for a, (m, k) in zip(self.amplitudes, self.terms, strict=False)
        )
        return f"tail of {self.name}, fitted from {self.start:.4g} to {self.stop:.4g}: end {self.end:.6g}, then {terms}"

    def at(self, times: float | Times) -> Curves:
        """Return the curve at times from ``start`` on; the error is what one more term would change."""
        wanted = np.atleast_1d(np.asarray(times, dtype=float))
        if wanted.min() < self.start * (1.0 - 1e-9):
            raise ValueError(f"times: given {wanted.min():g}, the tail was fitted from {self.start:g} on")
        columns = _columns(self.rate, self.terms, wanted)
        value = columns[:, :-1] @ np.array(self.amplitudes)
        curve = Curve(self.end + value, np.abs(columns @ np.array(self.finer) - value))
        return Curves(wanted, {self.name: curve}, False)


@own_settings()
def fit_tail(
    record: Limit | Runs, name: Literal["train_error", "test_error"] = "train_error", *, start: float, stop: float
) -> Tail:
    """Fit the amplitude of a late curve between two times, and predict what comes after.

    The exponents are the spectrum of the dynamics linearised at the fixed point: two amplitudes are fitted, and a
    third one judges the error. Both are those of the record's own model and task.

    Examples
    --------
    >>> import flowlimit as fl
    >>> model, task = fl.DiagonalLinear(30.0), fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    >>> rate = fl.convergence_rate(model, task)
    >>> runs = fl.simulate(model, task, fl.GradientFlow(6.0 / float(rate.gamma)), dim=100, trials=2, key=0)
    >>> tail = fl.fit_tail(runs, start=1.0 / float(rate.gamma), stop=3.0 / float(rate.gamma))
    >>> tail.terms[0]  # the training error falls with 2 gamma
    (2.0, 0)
    """
    instance("record", (Limit, Runs), "fl.simulate(...)")(record)
    if name not in ("train_error", "test_error"):
        raise ValueError(f"name: given {shown(name)}, needs 'train_error' or 'test_error'")
    start, stop = (float(number(word, above=0.0)(time)) for word, time in (("start", start), ("stop", stop)))
    if not 0.0 < start < stop:
        raise ValueError(f"start, stop: given {start:g} and {stop:g}, need 0 < start < stop")
    rate = _rate_of(record)
    point = rate.point
    end = float(point.train_error if name == "train_error" else point.test_error)
    alone = name == "train_error" or float(rate.test_rate) == float(rate.train_rate)
    terms = SQUARE if alone else CROSS
    held_from = getattr(record.stats, "held_from", None)  # runs have none
    if held_from is not None and stop > held_from:
        raise ValueError(
            f"stop: given {stop:g}, but this limit was at rest from {held_from:.4g} on and is held there; take a "
            f"smaller stop, or solve all times with solver=fl.PanelSolver(rest_factor=1e9)"
        )
    inside = (record.times >= start) & (record.times <= stop)
    if inside.sum() <= len(terms):
        raise ValueError(
            f"record: {inside.sum()} saved times between {start:g} and {stop:g}, needs at least {len(terms) + 1}; "
            f"give more with save_at="
        )
    excess = record[name].value[inside] - end
    if not np.isfinite(excess).all() or not excess.all():
        odd = record.times[inside][~np.isfinite(excess) | (excess == 0.0)][0]
        raise ValueError(
            f"record: its {name} at time {odd:g} is not finite, or is the fixed point's; needs finite values above or "
            f"below it, e.g. an earlier stop="
        )
    columns = _columns(rate, terms, record.times[inside]) / excess[:, None]
    fit = lambda given: tuple(map(float, np.linalg.lstsq(given, np.ones(len(excess)), rcond=None)[0]))
    return Tail(rate, name, end, terms, fit(columns[:, :-1]), fit(columns), float(start), float(stop))


def _rate_of(record: Limit | Runs) -> Rate:
    try:
        return convergence_rate(record.noun("model"), record.noun("task"))
    except (TypeError, ValueError) as error:  # says what its model or task must be
        raise type(error)(f"record: {error}") from None


@own_settings()
def _columns(rate: Rate, terms: Terms, times: Times) -> Float[np.ndarray, "times terms"]:
    spectrum, t = rate.spectrum, jnp.asarray(times)
    return np.stack([np.asarray(spectrum.decay(t, multiple, power)) for multiple, power in terms], axis=1)
