"""Lowered programs on disk, so that a later process neither traces a function nor lowers it: two of its five seconds.

jax's persistent cache keeps what the compiler makes of a program; to look it up, jax traces and lowers the function
again. Here the lowered program is kept, by `jax.export`, for calls whose kind has words, see `kinds`. It holds for the
same files of this package, versions of others and settings of jax.
"""

import hashlib
import os
import pickle
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import equinox as eqx
import jax
from jax import export

from ..program_cache import LOWERED, refuse_foreign
from .kinds import UnknownKindError, words

ENDING = ".lowered"
MOST_FILES = 500
"""What was written first goes when there are more; a file has 5 to 300 kB."""
OTHERS = ("jax", "jaxlib", "equinox", "diffrax", "lineax", "optimistix", "numpy")
"""Packages whose code is traced, or runs while this package's is."""
CONTEXT = (
    "jax_enable_x64",
    "jax_default_matmul_precision",
    "jax_default_prng_impl",
    "jax_threefry_partitionable",
    "jax_numpy_dtype_promotion",
    "jax_numpy_rank_promotion",
    "jax_debug_nans",
    "jax_debug_infs",
    "jax_disable_jit",
    "jax_enable_checks",
)
"""Settings of jax that change what is traced."""


class Slot(NamedTuple):
    """Place of an array in a result."""

    place: int


class Program(NamedTuple):
    """A program from arrays to arrays, what these are, and the result with slots in their places."""

    run: Callable[..., list[jax.Array]]
    shapes: tuple[Any, ...]
    result: Any

    def __call__(self, call: "Call") -> Any:
        """Return what the call's function returns."""
        return self.filled(self.run(*call.arrays))

    def filled(self, arrays: Sequence[Any]) -> Any:
        """Return the result with these arrays."""
        fill = lambda x: arrays[x.place] if isinstance(x, Slot) else x
        return jax.tree.map(fill, self.result, is_leaf=lambda x: isinstance(x, Slot))


@dataclass(frozen=True)
class Call:
    """A function with its arguments; arrays of all but the first may be overwritten if ``donate``."""

    function: Callable[..., Any]
    arguments: tuple[tuple[Any, ...], dict[str, Any]]
    donate: bool

    @property
    def arrays(self) -> tuple[list[Any], list[Any]]:
        """Arrays that are left as they are, and those that may be overwritten."""
        leaves, own = jax.tree.leaves(self.arguments), self._kept_leaves
        return [x for x in leaves[:own] if eqx.is_array(x)], [x for x in leaves[own:] if eqx.is_array(x)]

    @property
    def signature(self) -> Hashable:
        """What tells calls apart within a process, as `jax.jit` does: quicker than words."""
        leaves, tree = jax.tree.flatten(self.arguments)
        return (self.function, self.donate, tree, *map(_signature, leaves), *_settings())

    @property
    def kind(self) -> str:
        """The kind in words, with the settings of jax at this moment; raises `UnknownKindError` if it has none."""
        name = f"{self.function.__module__}.{self.function.__qualname__}"
        if not name.startswith("flowlimit.") or "<" in name:
            raise UnknownKindError(name)
        return " ".join([*map(str, _settings()), str(self.donate), name, words(self.arguments)])

    @property
    def _kept_leaves(self) -> int:
        return len(jax.tree.leaves(self.arguments[0][0] if self.donate else self.arguments))

    def lowered(self) -> tuple[export.Exported, Any]:
        """Return the lowered program and the result with slots."""
        leaves, tree = jax.tree.flatten(self.arguments)
        results = []

        def flat(kept: list[Any], overwritten: list[Any]) -> list[Any]:
            arrays = iter([*kept, *overwritten])
            args, kwargs = jax.tree.unflatten(tree, [next(arrays) if eqx.is_array(x) else x for x in leaves])
            found, structure = jax.tree.flatten(self.function(*args, **kwargs))
            given = [x for x in found if eqx.is_array(x)]
            slots = iter(map(Slot, range(len(given))))
            results.append(jax.tree.unflatten(structure, [next(slots) if eqx.is_array(x) else x for x in found]))
            return given

        flat.__name__ = self.function.__name__
        return export.export(jax.jit(flat))(*self.arrays), results[-1]


UNKNOWN = Program(lambda *_: [], (), None)
_PROGRAMS: dict[Hashable, Program | None] = {}
_LOCKS: defaultdict[Hashable, Lock] = defaultdict(Lock)
"""One for each program: another thread may find its own meanwhile."""


def kept_program(call: Call, options: dict[str, Any]) -> Program | None:
    """Return the program of a call, from the folder or into it; None where programs are not kept, or not such a one."""
    folder = os.environ.get(LOWERED)
    if not folder:
        return None
    known = folder, call.signature
    try:
        hash(known)
    except TypeError:
        return None
    if len(_PROGRAMS) >= MOST_FILES:
        _PROGRAMS.clear()
        _LOCKS.clear()
    with _LOCKS[known]:
        program = _PROGRAMS.get(known, UNKNOWN)
        if program is UNKNOWN:
            program = _PROGRAMS[known] = _find(Path(folder), call, options)
        return program


def _find(folder: Path, call: Call, options: dict[str, Any]) -> Program | None:
    try:
        refuse_foreign(folder)  # what is read can run code
    except OSError:
        return None
    try:
        path = folder / (hashlib.sha256(f"{_versions()} {call.kind}".encode()).hexdigest() + ENDING)
    except UnknownKindError:
        return None
    donated = {"donate_argnums": 1} if call.donate else {}
    make = lambda lowered, result: Program(jax.jit(lowered.call, **donated, **options), lowered.out_avals, result)
    try:
        return make(*_read(path))
    except (OSError, ValueError):  # there is none, or it is damaged
        pass
    try:
        lowered, result = call.lowered()
        _write(path, lowered, result)
    except Exception:
        return None
    return make(lowered, result)


def _read(path: Path) -> tuple[export.Exported, Any]:
    with path.open("rb") as file:
        digest, content = file.read(32), file.read()
    if hashlib.sha256(content).digest() != digest:
        raise ValueError(f"{path} is damaged")
    program, result = pickle.loads(content)
    return export.deserialize(bytearray(program)), result


def _write(path: Path, lowered: export.Exported, result: Any) -> None:
    content = pickle.dumps((bytes(lowered.serialize()), result))
    files = sorted(path.parent.glob(f"*{ENDING}"), key=lambda file: file.stat().st_mtime)
    for old in files[: max(0, len(files) - MOST_FILES + 1)]:
        old.unlink(missing_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(hashlib.sha256(content).digest() + content)
    Path(file.name).replace(path)


def _signature(leaf: Any) -> Hashable:
    if isinstance(leaf, jax.Array):
        return leaf.shape, leaf.dtype, leaf.weak_type, leaf.sharding
    return (leaf.shape, leaf.dtype) if eqx.is_array(leaf) else (type(leaf), leaf)


def _settings() -> list[Any]:
    return [getattr(jax.config, name) for name in CONTEXT]


@cache
def _versions() -> str:
    """Return a digest of this package's files, with the versions of those that it is built on."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return " ".join([digest.hexdigest(), sys.version, *(f"{name} {version(name)}" for name in OTHERS)])
