"""Writes that survive a loss of power: data are on the disk before anything says that they are there."""

import ctypes
import json
import os
import shutil
import uuid
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


def is_there(path: Path) -> bool:
    """Whether there is a file or folder; what no path can be (too long, a null character) is not."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def sync(path: Path) -> None:
    """Wait until a file, or a folder's list of names, is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_all(paths: Iterable[Path], root: Path) -> None:
    """Wait for files, or all files in folders, and for every folder between them and ``root``."""
    folders = set()
    for path in paths:
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        for file in files:
            sync(file)
            folders.update(folder for folder in file.parents if folder == root or root in folder.parents)
    for folder in sorted(folders, key=lambda folder: -len(folder.parts)):
        sync(folder)


def put_text(path: Path, text: str) -> None:
    """Write a small file whole or not at all, and wait until it is on the disk."""
    write_file(path, lambda beside: beside.write_text(text))


def write_file(path: Path, fill: Callable[[Path], Any]) -> None:
    """Write a file whole or not at all, and wait until it is on the disk. ``fill`` gets a path of the same ending."""
    beside = path.with_name(f".{uuid.uuid4().hex}.partial{path.suffix}")
    try:
        fill(beside)
        sync(beside)
        beside.replace(path)
        sync(path.parent)
    finally:
        beside.unlink(missing_ok=True)


SEAL = "seal/zarr.json"
"""Of a zarr store: its other files, at the time of sealing, with size and checksum, as attributes of an empty group, so
that other readers of the store find nothing that they do not know."""


HERE, EXCHANGE = -100, 2
"""AT_FDCWD and RENAME_EXCHANGE of the system's renameat2."""


class DamagedError(ValueError):
    """A folder does not hold what was written to it."""


def write_folder(path: Path, fill: Callable[[Path], Any]) -> None:
    """Write a folder whole or not at all, and wait until it is on the disk: beside its place, sealed, then renamed.

    One that is there already is replaced; it goes when the new one has its place. ``fill`` writes into an empty path.
    Where the system lets two names change places (Linux does), one of the two is there at every moment.
    """
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")
    old = path.with_name(f".{path.name}.{uuid.uuid4().hex}.old")
    try:
        fill(beside)
        seal(beside)
        sync_all([beside], beside)
        if not path.exists():
            beside.rename(path)
        elif not _exchange(beside, path):
            path.rename(old)
            beside.rename(path)
        sync(path.parent)
    except BaseException:
        if old.exists() and not path.exists():
            old.rename(path)
        raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        if path.exists():
            shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Let two names change places in one step; whether the system and its file system can."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    return rename(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE) == 0


def seal(path: Path) -> None:
    """Write the list of a store's files as they are now."""
    (path / SEAL).parent.mkdir()
    group = {"zarr_format": 3, "node_type": "group", "attributes": {"files": _listed(path)}}
    put_text(path / SEAL, json.dumps(group))


def check_folder(path: Path, *, grows: bool = False) -> None:
    """Refuse a folder whose files are not those that were sealed: changed, missing or, unless it grows, more."""
    sealed = _sealed(path)
    found = _listed(path, set(sealed) if grows else None)
    wrong = sorted(name for name in {*sealed, *found} if sealed.get(name) != found.get(name))
    if wrong:
        more = f" and {len(wrong) - 1} more files" if len(wrong) > 1 else ""
        raise DamagedError(
            f"{path} is damaged: {wrong[0]}{more} are not as they were written; restore it from a copy, or compute the "
            f"result anew"
        )


def _sealed(path: Path) -> dict[str, list[int]]:
    try:
        return dict(json.loads((path / SEAL).read_text())["attributes"]["files"])
    except FileNotFoundError:
        raise DamagedError(
            f"{path} has no {SEAL}, the list of its checksums; give a store that this version of flowlimit wrote"
        ) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DamagedError(f"{path}: {SEAL}, the list of its checksums, is damaged; restore it from a copy") from None


def _listed(path: Path, names: set[str] | None = None) -> dict[str, list[int]]:
    """Return every file of a folder but its seal, or those named, with size and CRC-32."""
    every = [path / name for name in names] if names is not None else path.rglob("*")
    files = sorted(file for file in every if file.is_file() and file != path / SEAL)
    return {file.relative_to(path).as_posix(): [file.stat().st_size, _crc(file)] for file in files}


def _crc(file: Path) -> int:
    """Return the CRC-32 of a file, read piece by piece."""
    crc = 0
    with file.open("rb") as opened:
        while piece := opened.read(2**20):
            crc = zlib.crc32(piece, crc)
    return crc
