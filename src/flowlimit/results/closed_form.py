"""The faces of closed forms: as plain numbers and words, as labelled data, in a notebook, and in a comparison."""

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .format import uncertain
from .html import some_rows, sparkline, table
from .labelled import dataset
from .outcome import Outcome
from .same import Comparable
from .words import long_name

if TYPE_CHECKING:
    import xarray

UNKNOWN = float("nan")
"""The standard error of what has none."""


class ClosedForm(Comparable):
    """An answer without error bars. A subclass says which of its attributes are words, numbers and arrays."""

    INNER: ClassVar[tuple[str, ...]] = ()
    """Attributes that are closed forms themselves, whose entries come first."""
    WORDS: ClassVar[tuple[str, ...]] = ()
    """Attributes that are text, e.g. the case, or an outcome."""
    NUMBERS: ClassVar[tuple[str, ...]] = ()
    """Attributes that are one number."""
    ARRAYS: ClassVar[Mapping[str, str]] = {}
    """Attributes that are arrays of one axis, or mappings of its labels to numbers, with the axis."""
    LABELS: ClassVar[Mapping[str, str]] = {}
    """Axes whose positions are an attribute; others are counted, steps from 1."""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as a dictionary of words, Python numbers and lists of them."""
        labels = {name: _plain(getattr(self, name)) for name in self.LABELS.values()}
        arrays = {name: _plain(getattr(self, name)) for name in self.ARRAYS}
        return self._words() | {name: _plain(value) for name, value in self._numbers().items()} | labels | arrays

    def to_xarray(self) -> "xarray.Dataset":
        """Return numbers and curves as a labelled data set, with words in its attributes."""
        numbers = [(name, (), value) for name, value in self._numbers().items()]
        arrays = [(name, (axis,), self._array(name)) for name, axis in self.ARRAYS.items()]
        coords = {axis: self._positions(axis) for axis in self.ARRAYS.values()}
        return dataset([*numbers, *arrays], coords).assign_attrs({"closed_form": type(self).__name__} | self._words())

    def _repr_html_(self) -> str:
        try:
            tables = "".join(self._html_tables())
        except TypeError:  # numbers of a batch, or known under jit only
            return f"<pre>{escape(repr(self))}</pre>"
        return f"<div><b>{escape(type(self).__name__)}</b>{tables}</div>"

    def _html_tables(self) -> list[str]:
        entries = [[name, word] for name, word in self._words().items() if word]
        entries += [[name, uncertain(float(value), UNKNOWN)] for name, value in self._numbers().items()]
        tables = [table((), entries)] if entries else []
        for axis in dict.fromkeys(self.ARRAYS.values()):
            names, at = [name for name, own in self.ARRAYS.items() if own == axis], self._positions(axis)
            counted = np.issubdtype(at.dtype, np.number)
            lines = [sparkline(at, self._array(name), long_name(name)) for name in names] if counted else []
            rows = [
                [f"{at[i]:.4g}" if counted else str(at[i])]
                + [uncertain(float(self._array(name)[i]), UNKNOWN) for name in names]
                for i in some_rows(len(at), 6)
            ]
            tables.append(table([axis, *names], rows, ["", *lines] if lines else ()))
        return tables

    def _words(self) -> dict[str, str]:
        words = {name: word for inner in self.INNER for name, word in getattr(self, inner)._words().items()}
        for name in self.WORDS:
            value = getattr(self, name)
            said = (
                {"result": str(value.code), "message": value.message} if isinstance(value, Outcome) else {name: value}
            )
            words |= said
        return words

    def _numbers(self) -> dict[str, Any]:
        shape = next((np.shape(vars(self)[name]) for name in self.NUMBERS if np.ndim(vars(self).get(name, 0.0))), ())
        if shape:
            raise TypeError(
                f"{type(self).__name__}: given a batch of shape {shape}, as vmap makes it, needs a single one, e.g. "
                f"jax.tree.map(lambda x: x[0], batch)"
            )
        numbers = {name: number for inner in self.INNER for name, number in getattr(self, inner)._numbers().items()}
        return numbers | dict(self.own_numbers())

    def own_numbers(self) -> Mapping[str, Any]:
        """Return the attributes that are numbers, by name."""
        return {name: getattr(self, name) for name in self.NUMBERS}

    def _array(self, name: str) -> np.ndarray:
        value = getattr(self, name)
        return np.asarray(list(value.values()) if isinstance(value, Mapping) else value)

    def _positions(self, axis: str) -> np.ndarray:
        if axis in self.LABELS:
            return np.asarray(getattr(self, self.LABELS[axis]))
        first = next(name for name, own in self.ARRAYS.items() if own == axis)
        return np.arange(self._array(first).shape[-1]) + (axis == "step")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    return np.asarray(value).tolist()
