"""Memory: what a user allows, what every call takes whatever its size, and what the process holds."""

import ctypes
import math
import os
from numbers import Real
from pathlib import Path
from typing import Any

from .shown import shown

PROGRAMS = 420 * 2**20
"""Bytes that jax, its compiler and compiled programs add to a process; measured by benchmarks/memory_of_solves.py."""


def checked_bytes(name: str, value: Any) -> float:
    """Return a memory limit in bytes, or refuse what is none.

    Examples
    --------
    >>> checked_bytes("memory_limit", 2**30)
    1073741824.0
    """
    number = as_finite(value)
    if not number > 0.0:
        raise ValueError(
            f"{name}: given {shown(value)}, needs a number of bytes above 0, e.g. {name}=4 * 2**30 for 4 GiB"
        )
    return number


def as_finite(value: Any) -> float:
    """Return a number as a float, the largest ones cut; NaN for what is no number.

    Examples
    --------
    >>> as_finite(2), as_finite(10**400), as_finite(-(10**400)), as_finite("2")
    (2.0, 1e+300, -1e+300, nan)
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    number: Any = value
    try:
        return min(float(number), 1e300)
    except OverflowError:  # an int beyond double precision
        return 1e300 if number > 0 else -1e300


def machine_bytes() -> float:
    """Return the memory of this machine in bytes; infinite where it cannot be read."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def resident_bytes() -> float:
    """Return the memory that this process holds now, in bytes; 0 where it cannot be read."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * int(Path("/proc/self/statm").read_text().split()[1]))
    except (AttributeError, OSError, ValueError):
        return 0.0


def give_back() -> None:
    """Return freed memory to the system, where the C library can: glibc otherwise keeps half of it for itself."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return
    trim(0)


def gibibytes(number: int | float) -> str:
    """Write bytes for people.

    Examples
    --------
    >>> gibibytes(3 * 2**29)
    '1.5 GiB'
    """
    return f"{number / 2**30:.3g} GiB"
