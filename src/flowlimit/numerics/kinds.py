"""What makes two calls of a compiled function the same kind, in words that hold in another process, too."""

import dataclasses
import enum
import sys
from collections.abc import Iterator
from functools import partial
from types import FunctionType
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh

PLAIN = (type(None), bool, int, float, complex, str, bytes)
KNOWN = ("flowlimit", "jax", "numpy", "equinox", "diffrax", "lineax", "optimistix", "functools", "builtins")
"""Packages whose functions and classes are what their names say, as long as versions are the same."""


class UnknownKindError(TypeError):
    """Raised for what has no words: above all code of the user's, which can change under the same name."""


def words(value: Any) -> str:
    """Return a kind: arrays by shape and type alone, all else by value.

    Examples
    --------
    >>> words((np.zeros(3), 0.5))
    'tuple(float64(3,) 0.5 )'
    >>> words(lambda x: x)
    Traceback (most recent call last):
    flowlimit.numerics.kinds.UnknownKindError: <lambda> of flowlimit.numerics.kinds
    """
    return "".join(_words(value))


def _words(value: Any) -> Iterator[str]:
    if type(value) in PLAIN:
        yield repr(value)
    elif isinstance(value, jax.Array):
        if value.devices() != {jax.devices()[0]}:
            raise UnknownKindError("an array that is not on the first device")
        yield f"{value.dtype}{value.shape}{'~' * getattr(value, 'weak_type', False)}"  # a key's has its generator
    elif isinstance(value, Mesh):
        if value.devices.tolist() != np.full(value.devices.shape, jax.devices()[0]).tolist():
            raise UnknownKindError("a mesh of several devices")
        yield f"Mesh{value.axis_names}{value.devices.shape}"
    elif isinstance(value, np.ndarray | np.generic):
        yield f"{value.dtype}{value.shape}"
    elif isinstance(value, type | FunctionType):
        yield _name(value)
    else:
        yield f"{_name(type(value))}("
        for part in _parts(value):
            yield from _words(part)
            yield " "
        yield ")"


def _parts(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return list(value)
    if isinstance(value, dict):
        return [part for pair in value.items() for part in pair]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, enum.Enum):
        return [value.name]
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    raise UnknownKindError(f"a value of {type(value).__name__}")


def _name(named: type | FunctionType) -> str:
    """Return the name under which this object, and no other, is found."""
    package, name = named.__module__, named.__qualname__
    found: Any = sys.modules.get(package) if package.split(".")[0] in KNOWN else None
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not named:
        raise UnknownKindError(f"{name} of {package}")
    return name if package == "builtins" else f"{package}.{name}"
