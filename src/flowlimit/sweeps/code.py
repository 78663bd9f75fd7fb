"""A digest of what a user's function or object computes: code, defaults, closures, and the globals that it refers to.

Two with the same digest give the same numbers; what cannot be told so is refused. Code of the package itself and of
installed libraries goes by its name and version.
"""

import functools
import hashlib
import pickle
import sys
import sysconfig
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..problem.noun import Noun

OURS = __name__.partition(".")[0]
HERE = str(Path(__file__).parents[1])
PLAIN = (type(None), bool, int, float, complex, str, bytes)
CALLED = ("__init__", "__call__", "__post_init__", "__check_init__")
"""Methods of a class that count beside those with ordinary names."""
LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
"""Folders of code that changes with its version alone."""


class UnknownCodeError(TypeError):
    """Something that a sweep depends on cannot be told apart from something else."""


def digest_of(value: Any) -> str:
    """Return the SHA-256 of a value with all that it computes with.

    Examples
    --------
    >>> times = lambda factor: lambda x: factor * x
    >>> digest_of(times(1.0)) == digest_of(times(1.0)), digest_of(times(1.0)) == digest_of(times(2.0))
    (True, False)
    """
    whole = hashlib.sha256()
    for part in _parts(value, {}):
        whole.update(len(part).to_bytes(8, "little") + part)
    return whole.hexdigest()


def _parts(value: Any, seen: dict[int, int]) -> Iterator[bytes]:
    """Yield bytes that tell a value from every other; ``seen`` are functions and objects met before: they may recur."""
    yield type(value).__qualname__.encode()
    if isinstance(value, PLAIN):
        yield repr(value).encode()
    elif isinstance(value, jax.Array | np.ndarray | np.generic):
        yield from _array(value)
    elif isinstance(value, Mapping):
        for name in value:
            yield from _all((name, value[name]), seen)
    elif isinstance(value, set | frozenset):
        yield from sorted(digest_of(item).encode() for item in value)
    elif isinstance(value, list | tuple | range):
        yield from _all(value, seen)
    elif isinstance(value, types.CodeType):
        yield from _code(value, seen)
    elif isinstance(value, types.ModuleType) or _is_library(value):
        yield _by_name(value)
    elif id(value) in seen:
        yield str(seen[id(value)]).encode()
    else:
        seen[id(value)] = len(seen)
        yield from _users(value, seen)


def _all(values: Any, seen: dict[int, int]) -> Iterator[bytes]:
    for value in values:
        yield from _parts(value, seen)
    yield b"end"


def _users(value: Any, seen: dict[int, int]) -> Iterator[bytes]:
    """Yield the parts of a user's function, class or object."""
    if isinstance(value, types.FunctionType):
        yield from _function(value, seen)
    elif isinstance(value, types.MethodType):
        yield from _all((value.__self__, value.__func__), seen)
    elif isinstance(value, functools.partial):
        yield from _all((value.func, value.args, value.keywords), seen)
    elif isinstance(value, staticmethod | classmethod | property):
        yield from _all([getattr(value, name, None) for name in ("__func__", "fget")], seen)
    elif isinstance(value, type):
        own = {name: item for name, item in vars(value).items() if name in CALLED or not name.startswith("_")}
        yield from _all((value.__qualname__, value.__bases__, own), seen)
    elif isinstance(value, Noun):
        yield from _all((type(value), {name: getattr(value, name) for name in vars(value)}), seen)
    elif (inner := getattr(value, "__wrapped__", None)) is not None:  # compiled, cached, decorated
        yield from _parts(inner, seen)
    else:
        yield from _object(value, seen)


def _function(function: types.FunctionType, seen: dict[int, int]) -> Iterator[bytes]:
    code, inner = function.__code__, getattr(function, "__wrapped__", None)
    if inner is not None and code.co_filename.startswith((*LIBRARIES, HERE)):  # a decorator's, of ours or a library
        yield from _parts(inner, seen)
        return
    yield from _all((code, function.__defaults__, function.__kwdefaults__), seen)
    names = sorted(set(_names(code)))
    cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
    used = {name: function.__globals__[name] for name in names if name in function.__globals__}
    used |= {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}
    for name, value in used.items():
        yield from _all((name, value), seen)
        if isinstance(value, types.ModuleType) and not _is_library(value):  # one of the user's: what is used of it
            yield from _all([(other, getattr(value, other)) for other in names if hasattr(value, other)], seen)


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:  # of a function that is still being defined
        return False
    return True


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _code(code: types.CodeType, seen: dict[int, int]) -> Iterator[bytes]:
    yield code.co_code
    yield from _all((code.co_names, code.co_varnames, code.co_freevars, code.co_consts), seen)


def _array(value: Any) -> Iterator[bytes]:
    if isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    value = np.asarray(value)
    if value.dtype.hasobject:
        raise UnknownCodeError("an array of Python objects: given one, needs numbers")
    yield f"{value.dtype.str} {value.shape}".encode()
    yield np.ascontiguousarray(value).tobytes()


def _object(value: Any, seen: dict[int, int]) -> Iterator[bytes]:
    yield from _parts(type(value), seen)
    try:
        yield pickle.dumps(value, protocol=5)
    except Exception as error:  # whatever its own pickling raises
        raise UnknownCodeError(
            f"{type(value).__name__}: given an object that cannot be pickled ({error}), so that two of them cannot be "
            f"told apart; give numbers, arrays, functions or nouns instead"
        ) from error


def _is_library(value: Any) -> bool:
    """Whether something with a name is the package's, a library's or Python's own."""
    if isinstance(value, types.ModuleType):
        name = value.__name__
    elif hasattr(value, "__name__") and "<locals>" not in getattr(value, "__qualname__", ""):
        name = str(getattr(value, "__module__", None) or "")
    else:
        return False
    root = name.partition(".")[0]
    if root == OURS or root in sys.builtin_module_names or root in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is not None and file.startswith(LIBRARIES)


def _by_name(value: Any) -> bytes:
    name = value.__name__ if isinstance(value, types.ModuleType) else f"{value.__module__}:{value.__name__}"
    root = sys.modules.get(str(name).partition(".")[0].partition(":")[0])
    known = "" if root is None or root.__name__ == OURS else getattr(root, "__version__", "")
    return f"{name} {known}".encode()
