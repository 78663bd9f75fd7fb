"""Zarr stores that cannot grow when they are read: arrays lie in files as in memory, each chunk with its CRC-32C.

A file's size then is the size of what it holds, so that a store is held against its description before anything is
allocated: what it declares and does not hold is refused, and so is everything that we do not write.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .disk import DamagedError

TYPES = {"float64": 8, "int64": 8, "int8": 1}
"""Types of arrays, with their bytes per number."""
CODECS = ({"name": "bytes", "configuration": {"endian": "little"}}, {"name": "bytes"}), ({"name": "crc32c"},)
"""Numbers as they are (a type of one byte has no endianness), then a checksum."""
CHECKSUM = 4
"""Bytes of a checksum."""


def as_it_is(shape: tuple[int, ...]) -> dict[str, Any]:
    """Return how an array is written, for xarray's encoding and zarr's creation alike: in one chunk, not compressed."""
    from zarr.codecs import Crc32cCodec

    return {"chunks": tuple(max(1, length) for length in shape), "compressors": (Crc32cCodec(),)}


@dataclass(frozen=True)
class Array:
    """An array as its file says it is."""

    path: Path
    kind: str
    shape: tuple[int, ...]
    chunk: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of the whole array in memory."""
        return TYPES[self.kind] * math.prod(self.shape)

    @property
    def chunk_nbytes(self) -> int:
        """Bytes of a chunk's file."""
        return TYPES[self.kind] * math.prod(self.chunk) + CHECKSUM

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return math.prod(-(-length // part) for length, part in zip(self.shape, self.chunk, strict=True))

    def check_files(self, *, whole: bool) -> None:
        """Refuse files of other sizes than the array declares, and, if it is to be whole, missing ones."""
        files = [file for file in (self.path / "c").rglob("*") if file.is_file()]
        if not self.shape:
            files = [file for file in (self.path / "c",) if file.is_file()]
        files = [file for file in files if not file.name.endswith(".partial")]  # of a process that was killed
        wrong = [file for file in files if file.stat().st_size != self.chunk_nbytes]
        if wrong:
            raise DamagedError(
                f"{wrong[0]} has {wrong[0].stat().st_size} bytes, and {self.path.name} declares {self.chunk_nbytes}"
            )
        if len(files) > self.chunks or (whole and len(files) != self.chunks):
            raise DamagedError(f"{self.path} has {len(files)} chunks, and declares {self.chunks}")


def arrays(root: Path) -> Iterator[Array]:
    """Yield the arrays of a store by its descriptions alone; refuse those that this package does not write."""
    for file in sorted(root.rglob("zarr.json")):
        node = read_node(file)
        if node["node_type"] == "array":
            yield _array(file.parent, node)


def read_node(file: Path) -> dict[str, Any]:
    """Return the description of a group or an array, version 3."""
    try:
        node = json.loads(file.read_text())
        known = node["zarr_format"] == 3 and node["node_type"] in ("group", "array")
    except (ValueError, KeyError, TypeError, RecursionError, OSError):
        raise DamagedError(f"{file} is damaged; restore the store from a copy, or compute it anew") from None
    if not known:
        raise DamagedError(f"{file} describes no group or array of zarr version 3; give a store of flowlimit")
    return node


def _array(path: Path, node: Mapping[str, Any]) -> Array:
    try:
        grid, keys = node["chunk_grid"], node["chunk_key_encoding"]
        array = Array(path, node["data_type"], tuple(node["shape"]), tuple(grid["configuration"]["chunk_shape"]))
        places = grid["name"] == "regular" and keys["name"] == "default" and keys["configuration"]["separator"] == "/"
        ours = places and _is_sound(array) and _is_plain(node["codecs"]) and not node.get("storage_transformers")
    except (KeyError, TypeError, AttributeError):
        array, ours = Array(path, "", (), ()), False
    if not ours:
        raise DamagedError(
            f"{path} is an array of a kind that flowlimit does not write: it needs numbers of {', '.join(TYPES)}, not "
            f"compressed, with crc32c; give a store that flowlimit wrote"
        )
    return array


def _is_sound(array: Array) -> bool:
    numbers = all(isinstance(length, int) for length in (*array.shape, *array.chunk))
    positive = numbers and min(array.shape, default=0) >= 0 and min(array.chunk, default=1) >= 1
    return positive and len(array.shape) == len(array.chunk) and array.kind in TYPES


def _is_plain(codecs: list[Mapping[str, Any]]) -> bool:
    said = [{name: value for name, value in codec.items() if value} for codec in codecs]
    return len(said) == len(CODECS) and all(one in some for one, some in zip(said, CODECS, strict=True))
