"""What makes two sweeps the same: verb, nouns, options and points, as plain data, compared when a store is resumed."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from ..problem.noun import Noun, functions_of
from ..results import RESULTS_VERSION
from .code import OURS, digest_of
from .points import Points
from .problem import Swept

FLAGS = ("jax_enable_x64", "jax_default_prng_impl", "jax_threefry_partitionable", "jax_default_matmul_precision")
"""Settings of jax that a user's function may depend on; ours do not."""
LONGEST = 64
"""Longest list that is written out; a longer one is named by its length, its first and last entries and its SHA-256."""


def fingerprint(problem: Swept, points: Points, *, resumable: bool = True) -> dict[str, Any]:
    """Describe a sweep, as it reads once stored; what nobody resumes may hold what cannot be told apart."""
    digest = digest_of if resumable else lambda _: "unknown"
    some = lambda values: {name: describe(value, digest) for name, value in values}
    description = {
        "results_version": RESULTS_VERSION,
        "verb": describe(problem.verb, digest),
        "jax_settings": {} if _is_ours(problem.verb) else {flag: str(getattr(jax.config, flag)) for flag in FLAGS},
        **some(problem.nouns.items()),
        **some(problem.options.items()),
        "over": some(zip(points.names, map(list, points.values), strict=True)),
        "grid": points.grid,
    }
    return json.loads(json.dumps(description))


def describe(value: Any, digest: Callable[[Any], str]) -> Any:
    """Return a value as plain data; functions, and objects of other kinds, by name and digest."""
    if isinstance(value, Noun):
        known = _is_ours(type(value)) and all(map(_is_ours, functions_of(value)))
        return value.to_dict() | ({} if known else {"digest": digest(value)})
    if isinstance(value, jax.Array | np.ndarray | np.generic) and getattr(value.dtype, "kind", "") in "biuf":
        value = np.asarray(value).tolist()
    if isinstance(value, Mapping):
        return {str(name): describe(item, digest) for name, item in value.items()}
    if isinstance(value, list | tuple | range):
        return _listed([describe(item, digest) for item in value])
    if isinstance(value, str | int | float | bool | None):
        return value
    name = f"{getattr(value, '__module__', '?')}:{getattr(value, '__qualname__', type(value).__qualname__)}"
    return {"function" if callable(value) else "kind": name} | ({} if _is_ours(value) else {"digest": digest(value)})


def _is_ours(value: Any) -> bool:
    """Whether a function or class is the package's, whose numbers have a version."""
    return hasattr(value, "__name__") and str(getattr(value, "__module__", "")).partition(".")[0] == OURS


def _listed(items: list[Any]) -> Any:
    if len(items) <= LONGEST:
        return items
    digest = hashlib.sha256(json.dumps(items).encode()).hexdigest()
    return {"length": len(items), "first": items[0], "last": items[-1], "sha256": digest}


def differences(store: Mapping[str, Any], given: Mapping[str, Any], where: str = "") -> list[str]:
    """Return where two descriptions differ, one line each."""
    lines = []
    for name in dict.fromkeys([*store, *given]):
        own, other = store.get(name), given.get(name)
        if isinstance(own, Mapping) and isinstance(other, Mapping):
            lines += differences(own, other, f"{where}{name}.")
        elif name == "digest" and own != other:
            what = "the code of the function, or a value that it reads, is another"
            lines.append(f"{where.rstrip('.')}: {what if where == 'verb.' else 'what it holds is not what it held'}")
        elif own != other:
            lines.append(f"{where}{name}: the store has {own!r}, given {other!r}")
    return lines
