"""Writes that survive a loss of power: data are on the disk before anything says that they are there."""

import json
import os
import shutil
import uuid
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


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
    partial = path.with_suffix(f".{uuid.uuid4().hex}.partial")
    with partial.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    sync(path.parent)


SEAL = "seal/zarr.json"
"""Of a zarr store: every other file in it with its size and checksum, as attributes of an empty group, so that other
readers of the store find nothing that they do not know."""


class DamagedError(ValueError):
    """A folder does not hold what was written to it."""


def write_folder(path: Path, fill: Callable[[Path], Any]) -> None:
    """Write a folder whole or not at all, and wait until it is on the disk: beside its place, sealed, then renamed.

    One that is there already is replaced; it goes when the new one has its place. ``fill`` writes into an empty path.
    """
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.partial")
    old = path.with_name(f".{path.name}.{uuid.uuid4().hex}.old")
    try:
        fill(beside)
        (beside / SEAL).parent.mkdir()
        group = {"zarr_format": 3, "node_type": "group", "attributes": {"files": _listed(beside)}}
        put_text(beside / SEAL, json.dumps(group))
        sync_all([beside], beside)
        if path.exists():
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


def check_folder(path: Path) -> None:
    """Refuse a folder whose files are not those that were written: changed, cut off, missing or more."""
    try:
        sealed = json.loads((path / SEAL).read_text())["attributes"]["files"]
    except FileNotFoundError:
        raise DamagedError(
            f"{path} has no {SEAL}, the list of its checksums; give a store that fl.save wrote"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise DamagedError(f"{path}: {SEAL}, the list of its checksums, is damaged; restore it from a copy") from None
    found = _listed(path)
    wrong = sorted(name for name in {*sealed, *found} if sealed.get(name) != found.get(name))
    if wrong:
        more = f" and {len(wrong) - 1} more files" if len(wrong) > 1 else ""
        raise DamagedError(
            f"{path} is damaged: {wrong[0]}{more} are not as they were written; restore it from a copy, or compute the "
            f"result anew"
        )


def _listed(path: Path) -> dict[str, list[int]]:
    """Return every file of a folder but its seal, with size and CRC-32."""
    files = sorted(file for file in path.rglob("*") if file.is_file() and file != path / SEAL)
    return {file.relative_to(path).as_posix(): [file.stat().st_size, zlib.crc32(file.read_bytes())] for file in files}
