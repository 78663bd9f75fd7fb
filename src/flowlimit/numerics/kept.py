"""Compiled programs on disk, found by what is called: a later process neither traces a function nor lowers it.

jax's persistent cache keeps what the compiler makes of a program, too; but to look it up, jax traces and lowers the
function again. Here it is found by the kind of the call, if that has words, see `kinds`. It holds for the same files of
this package, versions of others, settings of jax and devices.
"""

import hashlib
import os
import pickle
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.experimental import serialize_executable

from ..program_cache import PROGRAMS, processor, refuse_foreign
from .kinds import UnknownKindError, words

ENDING = ".program"
MOST_BYTES = 2**29
"""What was written first goes when there are more; a file has 5 kB to 3 MB."""
MOST_KINDS = 500
"""That one process knows."""
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
Options = Callable[[], dict[str, Any]]
"""Those of the compiler."""


class Slot(NamedTuple):
    """Place of an array in a result; of a key, its numbers, with its generator."""

    place: int
    generator: Any = None


class Program(NamedTuple):
    """A program from arrays to arrays, what these are, and the result with slots in their places."""

    run: jax.stages.Compiled
    shapes: tuple[jax.ShapeDtypeStruct, ...]
    result: Any

    def __call__(self, call: "Call") -> Any:
        """Return what the call's function returns."""
        return self.filled(self.run(*call.arrays))

    def filled(self, arrays: Sequence[Any]) -> Any:
        """Return the result with these arrays."""
        fill = lambda x: _whole(arrays[x.place], x.generator) if isinstance(x, Slot) else x
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
        bare = lambda some: [_bare(x) for x in some if eqx.is_array(x)]
        return bare(leaves[:own]), bare(leaves[own:])

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

    def lowered(self, name: str, options: dict[str, Any]) -> tuple[jax.stages.Lowered, Any]:
        """Return the program as the compiler is given it, under a name, and the result with slots."""
        leaves, tree = jax.tree.flatten(self.arguments)
        results = []

        def flat(kept: list[Any], overwritten: list[Any]) -> list[Any]:
            arrays = iter([*kept, *overwritten])
            whole = [_whole(next(arrays), _generator(x)) if eqx.is_array(x) else x for x in leaves]
            args, kwargs = jax.tree.unflatten(tree, whole)
            found, structure = jax.tree.flatten(self.function(*args, **kwargs))
            given = [x for x in found if eqx.is_array(x)]
            slots = iter([Slot(i, _generator(x)) for i, x in enumerate(given)])
            results.append(jax.tree.unflatten(structure, [next(slots) if eqx.is_array(x) else x for x in found]))
            return [_bare(x) for x in given]

        flat.__name__ = name
        donated = {"donate_argnums": 1} if self.donate else {}
        return jax.jit(flat, **donated, **options).lower(*self.arrays), results[-1]


def _generator(x: Any) -> Any:
    """Return the generator of a key, None for other arrays."""
    is_key = jnp.issubdtype(x.dtype, jax.dtypes.prng_key)
    return jax.random.key_impl(x) if is_key else None


def _bare(x: Any) -> Any:
    """Return a key's numbers, which a stored program can be given; other arrays as they are."""
    return x if _generator(x) is None else jax.random.key_data(x)


def _whole(x: Any, generator: Any) -> Any:
    return x if generator is None else jax.random.wrap_key_data(x, impl=generator)


class Stored(NamedTuple):
    """What a file holds of a program."""

    content: bytes
    trees: tuple[Any, Any]
    shapes: tuple[jax.ShapeDtypeStruct, ...]
    result: Any
    uses_lapack: bool


UNKNOWN = object()
_PROGRAMS: dict[Hashable, Any] = {}
"""Call -> its program, or None if it is not to be kept."""
_LOCKS: defaultdict[Hashable, Lock] = defaultdict(Lock)
"""One for each program: another thread may find another one meanwhile."""


def kept_program(call: Call, options: Options) -> Program | None:
    """Return the program of a call, from the folder or into it; None where programs are not kept, or not such a one.

    ``options`` are asked for only where something is compiled.
    """
    folder = os.environ.get(PROGRAMS)
    if not folder:
        return None
    known = folder, call.signature
    try:
        hash(known)
    except TypeError:
        return None
    if len(_PROGRAMS) >= MOST_KINDS:
        forget()
    with _LOCKS[known]:
        program = _PROGRAMS.get(known, UNKNOWN)
        if program is UNKNOWN:
            program = _PROGRAMS[known] = _find(Path(folder), call, options)
        return program


def forget() -> None:
    """Let go of all programs that this process has loaded; their files stay."""
    _PROGRAMS.clear()
    _LOCKS.clear()


def _find(folder: Path, call: Call, options: Options) -> Program | None:
    try:
        refuse_foreign(folder)  # what is read can run code
    except OSError:
        return None
    try:
        told = f"{_versions()} {_devices()} {call.kind}"
    except UnknownKindError:
        return None
    path = folder / (hashlib.sha256(told.encode()).hexdigest() + ENDING)
    try:
        return _read(path)
    except Exception:  # there is none, or it is damaged
        pass
    try:
        return _make(path, call, options)
    except Exception:  # what the usual way cannot do either, it says
        return None


def _read(path: Path) -> Program:
    with path.open("rb") as file:
        digest, content = file.read(32), file.read()
    if hashlib.sha256(content).digest() != digest:
        raise ValueError(f"{path} is damaged")
    stored: Stored = pickle.loads(content)
    if stored.uses_lapack:
        _load_lapack()
    run = serialize_executable.deserialize_and_load(stored.content, *stored.trees, execution_devices=jax.devices()[:1])
    return Program(run, stored.shapes, stored.result)


def _make(path: Path, call: Call, options: Options) -> Program:
    lowered, result = call.lowered(f"{call.function.__name__}_{path.stem[:8]}", options())
    told, reads = lowered.as_text(), _READ.number
    shapes = tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in lowered.out_info)
    program = Program(lowered.compile(), shapes, result)
    fresh = reads == _READ.number
    if fresh and "callback" not in told:  # a function of this process
        content, *trees = serialize_executable.serialize(program.run)
        with suppress(OSError):  # a full disk
            _write(path, Stored(content, tuple(trees), shapes, result, "lapack" in told))
    return program


class _Read(threading.local):
    """How many programs this thread has read from jax's cache: one that was read cannot be written whole again."""

    number = 0


_READ = _Read()


def _count_read(event: str, **_: Any) -> None:
    _READ.number += event == "/jax/compilation_cache/cache_hits"


jax.monitoring.register_event_listener(_count_read)


@cache
def _load_lapack() -> None:
    """Let jax load what its factorisations call, as it does when it lowers one: a program alone does not."""
    jax.jit(jnp.linalg.cholesky).lower(jax.ShapeDtypeStruct((1, 1), float))


def _write(path: Path, stored: Stored) -> None:
    content = pickle.dumps(stored)
    files = {file: file.stat() for file in path.parent.glob(f"*{ENDING}")}
    size = len(content) + sum(about.st_size for about in files.values())
    for old, about in sorted(files.items(), key=lambda item: item[1].st_mtime):
        if size > MOST_BYTES:
            old.unlink(missing_ok=True)
            size -= about.st_size
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(hashlib.sha256(content).digest() + content)
    Path(file.name).replace(path)


def _signature(leaf: Any) -> Hashable:
    if isinstance(leaf, jax.Array):
        return leaf.shape, leaf.dtype, getattr(leaf, "weak_type", False), leaf.sharding  # keys have none
    return (leaf.shape, leaf.dtype) if eqx.is_array(leaf) else (type(leaf), leaf)


def _settings() -> list[Any]:
    return [getattr(jax.config, name) for name in CONTEXT]


def _devices() -> str:
    """Return what programs are made for: they differ by it, and by the compiler's flags."""
    if jax.process_count() > 1:
        raise UnknownKindError("a program of several processes")
    first = jax.devices()[0]
    kind = f"{first.platform} {first.device_kind} {len(jax.devices())} {processor()}"  # a folder may be inherited
    return f"{kind} {os.environ.get('XLA_FLAGS', '')}"


@cache
def _versions() -> str:
    """Return a digest of this package's files, with the versions of those that it is built on."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return " ".join([digest.hexdigest(), sys.version, *(f"{name} {version(name)}" for name in OTHERS)])
