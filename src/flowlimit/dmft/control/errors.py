"""Error bars: the spread of whole solves, the bias they share, and the time error."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float

from ...results.spread import standard_error, student_factor
from ..readout.curves import Values
from .moves import UNKNOWN, Shortfall

RELATIVE_FLOOR = 1e-6
"""A curve is asked to be relatively accurate down to this part of its initial value."""
ROUNDING = 1e-13
"""A spread or a bias below this part of a value is rounding: the value is known."""
SIGMAS = 2.0
"""Standard errors that must fit into the requested accuracy."""


@dataclass(frozen=True)
class Replicas:
    """Curves of whole solves, each with its own paths, and of solves with parts of these.

    Those of ``parts`` belong to the first ones of ``whole``: each is the average over the parts of its paths, so many
    as ``of`` says.
    """

    whole: Sequence[Values] = field(default_factory=list)
    parts: Sequence[Values] = field(default_factory=list)
    of: int = 2
    time_errors: Sequence[Values] = field(default_factory=list)
    judged: tuple[str, ...] = ("train_error", "test_error")  # curves that the requested accuracy is for
    starts: Sequence[Mapping[str, float]] = field(default_factory=list)  # each curve at time 0, saved or not

    def stack(self, name: str) -> Float[np.ndarray, "replicas saves"]:
        """Return one curve of all replicas."""
        return np.stack([values[name] for values in self.whole])

    def with_time_errors(self, where: Bool[np.ndarray, "saves"], more: Mapping[str, float]) -> "Replicas":
        """Return the same with another time error for each curve at some of the saved times."""
        add = lambda name, error: np.where(where, np.hypot(error, more[name]), error)
        each = [{name: add(name, error) for name, error in errors.items()} for errors in self.time_errors]
        return replace(self, time_errors=each)

    def scale(self, name: str) -> Float[np.ndarray, "saves"]:
        """Return what errors of a judged curve are relative to: its size, down to a part of its initial value."""
        start = np.mean([abs(values[name]) for values in self.starts])
        return np.maximum(np.abs(self.stack(name).mean(axis=0)), RELATIVE_FLOOR * start)


@dataclass(frozen=True)
class Errors:
    """Parts of a curve's error: statistical, common bias, time."""

    statistical: np.ndarray
    bias: np.ndarray
    time: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """Return all parts together."""
        return np.sqrt(self.statistical**2 + self.bias**2 + self.time**2)


def estimate_errors(replicas: Replicas, name: str) -> Errors:
    """Return the errors of the replicas' mean."""
    values, count = replicas.stack(name), len(replicas.whole)
    if count < 2:
        unknown = np.full(values.shape[1], np.inf)
        return Errors(unknown, unknown, unknown)
    statistical = student_factor(count) * standard_error(values)
    time = np.mean([errors[name] for errors in replicas.time_errors], axis=0)
    rounding = ROUNDING * np.abs(values).mean(axis=0)
    known = lambda part: np.where(part <= rounding, 0.0, part)
    return Errors(known(statistical), known(estimate_bias(replicas, name)), time)


def estimate_bias(replicas: Replicas, name: str) -> np.ndarray:
    """Return the bias that all replicas share: what fewer paths change, on average over all parts of a replica's paths.

    A bias is of the order of a variance, so it falls like 1/paths or faster: halving the paths adds it at least once
    more, a quarter of them at least three times. What is random in one part is nearly the opposite in the others.
    """
    if not replicas.parts:
        return np.full(replicas.stack(name).shape[1], np.inf)
    pairs = zip(replicas.parts, replicas.whole, strict=False)
    return np.abs(np.mean([part[name] - whole[name] for part, whole in pairs], axis=0)) / (replicas.of - 1)


def judge(replicas: Replicas, rtol: float) -> Shortfall:
    """Compare the errors of the judged curves with the requested relative accuracy."""
    if not replicas.whole:
        return UNKNOWN
    worst = np.zeros(4)
    for name in replicas.judged:
        errors = estimate_errors(replicas, name)
        allowed = rtol / SIGMAS * replicas.scale(name)
        parts = np.stack([errors.statistical, errors.bias, errors.time, errors.total])
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(parts > 0.0, parts / allowed, 0.0)
        worst = np.maximum(worst, np.nan_to_num(ratio, nan=np.inf).max(axis=1))
    return Shortfall(*map(float, worst))


def all_curves(replicas: Replicas) -> tuple[Mapping[str, np.ndarray], Mapping[str, Errors]]:
    """Return every curve of all replicas, and its errors."""
    names = list(replicas.whole[0])
    return {name: replicas.stack(name) for name in names}, {name: estimate_errors(replicas, name) for name in names}
