"""Equality of results: the same numbers, NaN where the other has NaN. It answers True or False and never raises."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


class Comparable:
    """A dataclass that is equal to another of its class if the fields that count are (`dataclasses.field`'s compare).

    The subclass is made with ``eq=False``, or the generated ``==`` would take the place of this one.
    """

    def __eq__(self, other: object) -> bool:
        return same(self, other) if type(self) is type(other) else NotImplemented

    __hash__ = None  # pyright: ignore[reportAssignmentType]


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same, arrays entry by entry.

    Examples
    --------
    >>> same({"loss": np.array([1.0, np.nan])}, {"loss": np.array([1.0, np.nan])})
    True
    >>> same(np.zeros(2), np.zeros(3))
    False
    """
    try:
        return _same(one, other)
    except Exception:  # e.g. a value that is known under jit only, or a comparison that its own class refuses
        return False


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if _is_array(one) and _is_array(other):
        return _same_arrays(np.asarray(one), np.asarray(other))
    if type(one) is not type(other):
        return bool(one == other)
    if dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one) if field.compare]
        return all(_same(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, Sequence) and not isinstance(one, str | bytes):
        return len(one) == len(other) and all(_same(*pair) for pair in zip(one, other, strict=True))
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(other)
    return bool(one == other)


def _is_array(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "shape")


def _same_arrays(one: np.ndarray, other: np.ndarray) -> bool:
    numeric = np.issubdtype(one.dtype, np.inexact) and np.issubdtype(other.dtype, np.inexact)
    return np.array_equal(one, other, equal_nan=numeric)
