"""The points of a sweep: every combination of some axes, or a list, by addresses such as ``model.init_scale``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import numpy as np
from jaxtyping import Int

from ..problem.checks import shown

Columns = dict[str, list[Any]]
"""Address -> its value at each of some points."""


@dataclass(frozen=True)
class Points:
    """Values by address: along an axis each for a grid, or one per point for a list."""

    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    grid: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis; of the list."""
        lengths = tuple(len(values) for values in self.values)
        return lengths if self.grid else lengths[:1]

    @property
    def dims(self) -> tuple[str, ...]:
        """Names of the axes."""
        return self.names if self.grid else ("point",)

    def __len__(self) -> int:
        return int(np.prod(self.shape))

    def columns(self, index: Int[np.ndarray, "some"]) -> Columns:
        """Return the values at some points, counted with the last axis fastest."""
        every = zip(self.values, self.places(index).items(), strict=True)
        return {name: [values[i] for i in place] for values, (name, place) in every}

    def places(self, index: Int[np.ndarray, "some"]) -> dict[str, Int[np.ndarray, "some"]]:
        """Return where in the values of each address some points stand."""
        where = np.unravel_index(index, self.shape) if self.grid else [index] * len(self.names)
        return dict(zip(self.names, where, strict=True))

    @cached_property
    def numeric(self) -> frozenset[str]:
        """Addresses at which all values are numbers."""
        return frozenset(n for n, values in zip(self.names, self.values, strict=True) if all(map(is_number, values)))


def is_number(value: Any) -> bool:
    """Whether a value is a real number, Python's or numpy's."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def make_points(over: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> Points:
    """Read what a user gave as ``over``."""
    if isinstance(over, Mapping):
        return _grid(over)
    if not isinstance(over, Sequence) or not over or not all(isinstance(point, Mapping) for point in over):
        raise TypeError(
            f"over: given {shown(over)}, needs axes, e.g. over={{'model.init_scale': [0.1, 1.0]}}, or a list of "
            f"points, e.g. over=[{{'model.init_scale': 0.1}}, {{'model.init_scale': 1.0}}]"
        )
    names = tuple(over[0])
    _check_names(names)
    for i, point in enumerate(over):
        if set(point) != set(names):
            raise ValueError(f"over: given {sorted(point)} at point {i} and {sorted(names)} at point 0; needs the same")
    return Points(names, tuple(tuple(_plain(point[name]) for point in over) for name in names), grid=False)


def _grid(over: Mapping[str, Any]) -> Points:
    if not over:
        raise ValueError("over: given no axis, needs at least one, e.g. over={'model.init_scale': [0.1, 1.0]}")
    _check_names(tuple(over))
    for name, values in over.items():
        listed = isinstance(values, list | tuple | range) or getattr(values, "ndim", 0) > 0
        if not listed or not len(values):
            raise ValueError(f"over: given {shown(values)} for {name}, needs a list of values, e.g. [0.1, 1.0]")
    return Points(tuple(over), tuple(tuple(map(_plain, values)) for values in over.values()), grid=True)


def _check_names(names: tuple[Any, ...]) -> None:
    if not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError(
            f"over: given {shown(names)} as addresses, needs words, e.g. over={{'model.init_scale': [0.1]}}"
        )


def _plain(value: Any) -> Any:
    """Return numbers of arrays as Python's own: they pickle and print small."""
    return value.item() if isinstance(value, np.generic | np.ndarray | jax.Array) and value.ndim == 0 else value
