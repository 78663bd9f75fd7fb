"""Compiled programs kept between processes, in a folder for this processor and these versions.

What the compiler makes is kept by jax's persistent cache, what it is given by `numerics.kept`.

Nothing here loads jax, so that a command that computes nothing does not wait for it.
"""

import hashlib
import importlib.metadata
import os
import platform
import shutil
import stat
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

from . import __version__

SWITCH = "FLOWLIMIT_CACHE"
"""Environment variable: a folder to keep programs in, or "off"."""
GIVEN = "JAX_COMPILATION_CACHE_DIR"
"""jax's own variable: who sets it has decided, and is not overruled."""
PROGRAMS = "FLOWLIMIT_PROGRAMS"
"""Environment variable: where `numerics.kept` keeps what jax's cache does not; child processes inherit it."""
MOST_BYTES = 2 * 1024**3
"""Of one folder; jax drops what was not used for longest."""
MOST_FOLDERS = 3
"""Of versions and processors; what was not used for longest goes when a new one is made."""
SETTINGS = {
    "jax_persistent_cache_min_compile_time_secs": 0.0,  # many small programs take a second together
    "jax_persistent_cache_min_entry_size_bytes": 0,
    "jax_compilation_cache_max_size": MOST_BYTES,
}


class KeptPrograms(NamedTuple):
    """A folder of compiled programs, their number and their size in bytes."""

    folder: Path
    number: int
    size: int


def keep_programs(folder: str | Path | None = None) -> Path | None:
    """Keep compiled programs on disk from now on, so that the next process does not compile them again.

    The command line and the explorer do so by default. Only this user can read and write the folder; its name tells
    versions and processors apart, since a program for one processor can fail on another.

    Parameters
    ----------
    folder
        Where to keep them; unless given, the variable FLOWLIMIT_CACHE, or flowlimit's folder in the user's cache.

    Returns
    -------
    The folder that is used; None if FLOWLIMIT_CACHE is "off", or if the folder cannot be used, with a warning.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.keep_programs("/tmp/programs")  # doctest: +SKIP
    PosixPath('/tmp/programs/0.1.0-jaxlib0.10.2-x86_64-2f6c1a09')
    """
    if folder is None and GIVEN in os.environ:
        return Path(os.environ[GIVEN])
    os.environ.pop(PROGRAMS, None)
    place = _place(folder)
    if place is None:
        return None
    try:
        _make(place)
    except OSError as error:
        warnings.warn(f"compiled programs are not kept: {error}; {SWITCH}=off says so in advance", stacklevel=2)
        return None
    _tell_jax(place)
    return place


def kept_programs() -> KeptPrograms | None:
    """Return what is kept where `keep_programs` would keep it; None if that is nowhere."""
    place = Path(os.environ[GIVEN]) if GIVEN in os.environ else _place(None)
    if place is None:
        return None
    files = [path for path in place.iterdir() if path.is_file()] if place.is_dir() else []
    number = sum(path.name.endswith("-cache") for path in files)
    return KeptPrograms(place, number, sum(path.stat().st_size for path in files))


def _place(folder: str | Path | None) -> Path | None:
    """Return the folder for these versions and this processor, or None if the variable says "off"."""
    from platformdirs import user_cache_path

    given = folder if folder is not None else os.environ.get(SWITCH)
    if folder is None and given == "off":
        return None
    home = Path(given).expanduser().absolute() if given else user_cache_path("flowlimit") / "programs"
    jaxlib = importlib.metadata.version("jaxlib")
    return home / f"{__version__}-jaxlib{jaxlib}-{platform.machine()}-{processor()}"


@cache
def processor() -> str:
    """Return a digest of what the processor can do: code compiled for more than that ends a process."""
    told = [platform.processor(), platform.system()]
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        wanted = ("flags", "Features", "model name", "vendor_id", "CPU part")
        told += sorted({line.strip() for line in cpuinfo.read_text().splitlines() if line.startswith(wanted)})
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:8]


def _make(place: Path) -> None:
    """Make the folder if there is none; refuse one in which others could plant programs."""
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        _drop_oldest(place.parent)
        place.mkdir(mode=0o700, exist_ok=True)
    refuse_foreign(place)
    os.utime(place)


def refuse_foreign(place: Path) -> None:
    """Raise `PermissionError` for a folder in which others could plant programs."""
    about = place.stat()
    if hasattr(os, "getuid") and about.st_uid != os.getuid():
        raise PermissionError(f"{place} belongs to another user")
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"{place} can be written by others (chmod 700 mends it)")


def _drop_oldest(home: Path) -> None:
    """Drop folders until there are few enough for one more."""
    found = sorted((path for path in home.glob("*-jaxlib*") if path.is_dir()), key=lambda path: path.stat().st_mtime)
    for old in found[: max(0, len(found) - MOST_FOLDERS + 1)]:
        shutil.rmtree(old, ignore_errors=True)


def _tell_jax(place: Path) -> None:
    """Set jax's variables, which child processes inherit, and its settings if it is loaded."""
    os.environ[PROGRAMS] = str(place)
    settings = {"jax_compilation_cache_dir": str(place), **SETTINGS}
    for name, value in settings.items():
        os.environ[name.upper()] = str(value)
    if "jax" in sys.modules:
        import jax
        from jax.experimental.compilation_cache import compilation_cache

        for name, value in settings.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()  # jax looks for a folder once, at its first compilation
