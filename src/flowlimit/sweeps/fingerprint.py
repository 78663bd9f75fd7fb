"""What makes two sweeps the same: verb, nouns, options and points, as plain data, compared when a store is resumed."""

import hashlib
import inspect
import json
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from .. import __version__
from ..problem.noun import Noun, functions_of
from .points import Points
from .problem import Swept

LONGEST = 64
"""Longest list that is written out; a longer one is named by its length, its first and last entries and its SHA-256."""


def fingerprint(problem: Swept, points: Points) -> dict[str, Any]:
    """Describe a sweep, as it reads once stored."""
    description = {
        "version": __version__,
        "verb": describe(problem.verb),
        **{name: describe(noun) for name, noun in problem.nouns.items()},
        **{name: describe(value) for name, value in problem.options.items()},
        "over": {name: describe(list(values)) for name, values in zip(points.names, points.values, strict=True)},
        "grid": points.grid,
    }
    return json.loads(json.dumps(description))


def describe(value: Any) -> Any:
    """Return a value as plain data; functions by name and by the SHA-256 of their source."""
    if isinstance(value, Noun):
        sources = [describe(function)["source"] for function in functions_of(value)]
        return value.to_dict() | ({"sources": sources} if sources else {})
    if isinstance(value, jax.Array | np.ndarray | np.generic):
        value = np.asarray(value).tolist()
    if isinstance(value, Mapping):
        return {str(name): describe(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _listed([describe(item) for item in value])
    if callable(value):
        name = f"{getattr(value, '__module__', '?')}:{getattr(value, '__qualname__', repr(value))}"
        return {"function": name, "source": _source(value)}
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def _listed(items: list[Any]) -> Any:
    if len(items) <= LONGEST:
        return items
    digest = hashlib.sha256(json.dumps(items).encode()).hexdigest()
    return {"length": len(items), "first": items[0], "last": items[-1], "sha256": digest}


def _source(function: Any) -> str:
    """Return the digest of a function's source; of ours the version says enough, and typed at a prompt it has none."""
    if getattr(function, "__module__", "").partition(".")[0] == __name__.partition(".")[0]:
        return "flowlimit"
    try:
        return hashlib.sha256(inspect.getsource(function).encode()).hexdigest()
    except (OSError, TypeError):
        return "unknown"


def differences(store: Mapping[str, Any], given: Mapping[str, Any], where: str = "") -> list[str]:
    """Return where two descriptions differ, one line each."""
    lines = []
    for name in dict.fromkeys([*store, *given]):
        own, other = store.get(name), given.get(name)
        if isinstance(own, Mapping) and isinstance(other, Mapping):
            lines += differences(own, other, f"{where}{name}.")
        elif own != other:
            lines.append(f"{where}{name}: the store has {own!r}, given {other!r}")
    return lines
