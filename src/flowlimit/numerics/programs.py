"""Compiled programs hold memory maps, hundreds each, of which the system allows a process so many."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import jax

from .kept import forget

PART = 0.5
"""Part of the maps allowed at which programs are dropped."""
MAPS, ALLOWED = Path("/proc/self/maps"), Path("/proc/sys/vm/max_map_count")
_LEFT: ContextVar[bool] = ContextVar("flowlimit_left", default=False)
"""Whether who called drops programs itself."""


def drop_programs() -> bool:
    """Drop all compiled programs if their maps are near what is allowed; whether they were.

    Past it the compiler ends the process with a segmentation fault: after some hundred problems of different shapes.
    All of the process's JAX programs go; what is still needed is compiled again, or read from the compilation cache.
    Where the maps cannot be read, as elsewhere than on Linux, nothing is done.
    """
    if _LEFT.get() or not are_many():
        return False
    clear_programs()
    return True


def clear_programs() -> None:
    """Drop all compiled programs of the process."""
    forget()
    jax.clear_caches()


def are_many() -> bool:
    """Whether the process holds so many memory maps that programs are to be dropped."""
    try:
        with MAPS.open("rb") as maps:
            held = sum(1 for _ in maps)
        allowed = int(ALLOWED.read_text())
    except OSError:
        return False
    return held >= PART * allowed


@contextmanager
def left_to_caller() -> Iterator[None]:
    """Drop nothing inside: the caller has threads that compute, and drops programs when none of them does."""
    before = _LEFT.set(True)
    try:
        yield
    finally:
        _LEFT.reset(before)
