"""The base of every noun: immutable, a pytree, prints as the call that makes it, round-trips through a dictionary."""

import dataclasses
import difflib
import hashlib
import inspect
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np

from ..numerics.precision import DoubleModule
from ..types import is_traced
from ..words import hint
from .checks import shown

_KINDS: dict[str, type["Noun"]] = {}
_DIGESTS: dict[int, tuple[Any, str]] = {}


class _NounMeta(type(DoubleModule)):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except TypeError:
            known = _arguments(cls)
            if known is None:
                raise
            in_order = [name for name, own in known.items() if own.kind is own.POSITIONAL_OR_KEYWORD]
            if len(args) > len(in_order):
                message = _unnamed(cls, len(args), list(known), len(in_order))
            elif kwargs.keys() <= known.keys():
                raise
            else:
                message = _unknown(cls, kwargs.keys() - known.keys(), list(known))
        raise TypeError(message)


class Noun(DoubleModule, metaclass=_NounMeta):
    """A piece of a problem: a model, a law, a design, a task, a training."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _KINDS[kind_of(cls)] = cls

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionary of the noun, ready for TOML or JSON.

        ``from_dict`` takes it back. Fields that are None are left out. Functions are written as ``module:name``, for
        provenance only, and data (matrices, labels) as shape and SHA-256: neither is taken back.
        """
        fields = [f for f in dataclasses.fields(self) if getattr(self, f.name) is not None]
        return {"kind": kind_of(type(self)), **{argument(f): _plain(getattr(self, f.name), f) for f in fields}}

    def replaced(self, **changes: Any) -> Any:
        """Return the noun with some of its arguments replaced, checked like new ones."""
        check_names(type(self), changes)
        fields = [f for f in dataclasses.fields(self) if getattr(self, f.name) is not None]
        own = {argument(f): getattr(self, f.name) for f in fields}
        return type(self)(**(own | changes))

    def __repr__(self) -> str:
        fields = ((argument(f), f.default, getattr(self, f.name)) for f in dataclasses.fields(self))
        shown = (f"{name}={_short(value)}" for name, default, value in fields if not _is_default(value, default))
        return f"{type(self).__name__}({', '.join(shown)})"


def from_dict(description: dict[str, Any]) -> Any:
    """Make a noun from its dictionary.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.from_dict({"kind": "Bernoulli", "probability": 0.1})
    Bernoulli(probability=0.1)
    """
    if not isinstance(description, dict) or "kind" not in description:
        raise ValueError(
            f"description: given {shown(description)}, needs a dictionary with a 'kind', e.g. {{'kind': 'Linear'}}"
        )
    kind = description["kind"]
    if not isinstance(kind, str) or kind not in _KINDS or _is_abstract(_KINDS[kind]):
        close = difflib.get_close_matches(str(kind), [k for k, cls in _KINDS.items() if not _is_abstract(cls)], n=1)
        hint = f"did you mean {close[0]!r}?" if close else "import the module that defines a kind of your own first"
        raise ValueError(f"kind: given {shown(kind)}, needs the name of a law, design, model, task or training; {hint}")
    cls = _KINDS[kind]
    given = {name: value for name, value in description.items() if name != "kind"}
    names = check_names(cls, given)
    needed = [argument(f) for f in dataclasses.fields(cls) if f.init and _has_no_default(f)]
    missing = [name for name in needed if name not in given]
    if missing:
        raise ValueError(f"{kind}: given no {', '.join(missing)}; its fields are {', '.join(names)}")
    return cls(**{name: _revive(kind, name, value) for name, value in given.items()})


def _is_abstract(cls: type[Noun]) -> bool:
    return inspect.isabstract(cls) or bool(getattr(cls, "__abstractvars__", ()))


def check_names(cls: type[Noun], given: Iterable[str]) -> list[str]:
    """Return the arguments of a kind, or refuse names that are none of them."""
    names = list(dict.fromkeys(argument(f) for f in dataclasses.fields(cls)))
    unknown = set(given) - set(names)
    if unknown:
        raise ValueError(_unknown(cls, unknown, names))
    return names


def _unknown(cls: type, given: Iterable[Any], names: list[str]) -> str:
    """Say what a kind has in place of names that it does not have, and what may have been meant."""
    unknown = sorted(map(str, given))
    known = f"its fields are {', '.join(names)}" if names else "it has no fields"
    return f"{kind_of(cls)}: given unknown {', '.join(unknown)}; {known}{hint(unknown[0], names)}"


def _unnamed(cls: type, given: int, names: list[str], in_order: int) -> str:
    """Say which values need their names: in an order of numbers nobody sees what each of them is."""
    needed = ", ".join(f"{name}=" for name in names[in_order:])
    if not needed:
        return f"{kind_of(cls)}: given {given} values, needs at most {in_order}"
    first = f"only {' and '.join(names[:in_order])}" if in_order else "none"
    return f"{kind_of(cls)}: given {given} values without names; {first} can be given so, give the others as {needed}"


def _arguments(cls: type) -> Mapping[str, inspect.Parameter] | None:
    """Return the arguments that a kind takes by name; None if it takes any."""
    parameters = dict(list(inspect.signature(cls.__init__).parameters.items())[1:])
    return None if any(p.kind is p.VAR_KEYWORD for p in parameters.values()) else parameters


def functions_of(noun: Noun) -> Iterator[Any]:
    """Yield the functions that a noun holds, and those of the nouns in it."""
    for field in dataclasses.fields(noun):
        value = getattr(noun, field.name)
        if isinstance(value, Noun):
            yield from functions_of(value)
        elif callable(value) and not isinstance(value, type):
            yield value


def signature(tree: Any) -> tuple[Any, ...]:
    """Return what decides how a noun, or a tree of them, is compiled: all but its numbers."""
    arrays, static = eqx.partition(tree, eqx.is_array)
    shapes = tuple(leaf.shape for leaf in jax.tree.leaves(arrays))
    return jax.tree.structure(static), tuple(jax.tree.leaves(static)), shapes


def kind_of(cls: type) -> str:
    """Name of a kind: the class name, with its module in front if it is not ours."""
    ours = cls.__module__.partition(".")[0] == __name__.partition(".")[0]
    return cls.__name__ if ours else f"{cls.__module__}:{cls.__name__}"


def argument(field: dataclasses.Field) -> str:
    """Name of a field as an argument of its class: the field's own, unless it says otherwise."""
    return field.metadata.get("argument", field.name)


def _has_no_default(field: dataclasses.Field) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def data_field(converter: Any, **kwargs: Any) -> Any:
    """Field that holds data, which dictionaries name by shape and SHA-256 only."""
    return eqx.field(converter=converter, metadata={"data": True}, **kwargs)


def _plain(value: Any, field: dataclasses.Field) -> Any:
    if isinstance(value, Noun):
        return value.to_dict()
    if is_traced(value):
        raise TypeError("a noun with traced values has no dictionary; call to_dict() outside jit, grad and vmap")
    if field.metadata.get("data"):
        return {"shape": list(value.shape), "sha256": _digest(value)}
    if isinstance(value, jax.Array | np.ndarray):
        return np.asarray(value).tolist()
    if callable(value):
        return {"function": f"{getattr(value, '__module__', '?')}:{getattr(value, '__qualname__', repr(value))}"}
    return value


def _digest(array: jax.Array) -> str:
    # Hashing a large matrix takes seconds and arrays are immutable, so each is hashed once.
    known, digest = _DIGESTS.get(id(array), (None, ""))
    if known is None or known() is not array:
        digest = hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()
        own = id(array)
        _DIGESTS[own] = (weakref.ref(array, lambda _: _DIGESTS.pop(own, None)), digest)  # gone with its array
    return digest


def _revive(kind: str, name: str, value: Any) -> Any:
    if isinstance(value, dict) and "function" in value:
        raise ValueError(
            f"{kind}.{name}: given the function {value['function']!r} by name; functions are kept for provenance only, "
            f"build the noun in Python and pass the function itself"
        )
    if isinstance(value, dict) and "sha256" in value:
        raise ValueError(
            f"{kind}.{name}: given data of shape {tuple(value['shape'])} by its SHA-256 only; load the data itself, "
            f"build the noun in Python, and compare to_dict() to see that it is the same"
        )
    return from_dict(value) if isinstance(value, dict) and "kind" in value else value


def _short(value: Any) -> str:
    if isinstance(value, jax.Array) and not is_traced(value):
        if value.ndim == 0:
            short = f"{float(value):g}"
            return short if float(short) == float(value) else repr(float(value))
        return f"<array {'x'.join(map(str, value.shape))}>"
    if isinstance(value, Noun) or not callable(value):
        return repr(value)
    return getattr(value, "__qualname__", repr(value))


def _is_default(value: Any, default: Any) -> bool:
    if value is None:
        return True
    if is_traced(value):
        return False
    if isinstance(value, jax.Array) and value.ndim == 0 and isinstance(default, float | int):
        return float(value) == default
    return isinstance(default, int | str | Noun) and bool(value == default)
