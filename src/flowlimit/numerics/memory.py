"""Memory: what a user allows, and what every call takes whatever its size."""

import math
import os
from numbers import Real
from typing import Any

PROGRAMS, PANEL_PROGRAMS = 570 * 2**20, 750 * 2**20
"""Bytes that jax, its compiler and compiled programs add to a process, and with the larger programs of panels; measured
by benchmarks/memory_of_solves.py."""


def checked_bytes(name: str, value: Any) -> float:
    """Return a memory limit in bytes, or refuse what is none.

    Examples
    --------
    >>> checked_bytes("memory_limit", 2**30)
    1073741824.0
    """
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not value > 0 or math.isnan(value):
        raise ValueError(f"{name}: given {value!r}, needs a number of bytes above 0, e.g. {name}=4 * 2**30 for 4 GiB")
    return float(min(value, 1e300))


def machine_bytes() -> float:
    """Return the memory of this machine in bytes; infinite where it cannot be read."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def gibibytes(number: int | float) -> str:
    """Write bytes for people.

    Examples
    --------
    >>> gibibytes(3 * 2**29)
    '1.5 GiB'
    """
    return f"{number / 2**30:.3g} GiB"
