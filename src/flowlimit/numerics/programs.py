"""Compiled programs hold memory maps, hundreds each, of which the system allows a process so many."""

from pathlib import Path

import jax

PART = 0.5
"""Part of the maps allowed at which programs are dropped."""
MAPS, ALLOWED = Path("/proc/self/maps"), Path("/proc/sys/vm/max_map_count")


def drop_programs() -> bool:
    """Drop all compiled programs if their maps are near what is allowed; whether they were.

    Past it the compiler ends the process with a segmentation fault: after some hundred problems of different shapes.
    All of the process's JAX programs go; what is still needed is compiled again, or read from the compilation cache.
    Where the maps cannot be read, as elsewhere than on Linux, nothing is done.
    """
    try:
        with MAPS.open("rb") as maps:
            held = sum(1 for _ in maps)
        allowed = int(ALLOWED.read_text())
    except OSError:
        return False
    if held < PART * allowed:
        return False
    jax.clear_caches()
    return True
