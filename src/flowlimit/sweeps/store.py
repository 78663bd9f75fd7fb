"""A sweep's store: a zarr group with an array for each number, chunked by blocks of points, and a mark per block done.

A block's data are written first and its mark after them, with a checksum of the data: whatever is killed in between, at
any moment, a block counts as done only if all of it is there and readable. Data are on the disk before their mark is
written, so that a loss of power costs no more than a kill. Writing a block twice writes the same bytes.
"""

import contextlib
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped

from ..numerics.disk import DamagedError, sync_all
from .create import CODES
from .layout import Layout
from .marks import put_mark, read_mark
from .rows import Row, Values

AGAIN = "run the same sweep again: it computes what is missing or damaged, and nothing else"
CHECKED = 2**26
"""Bytes of each array that are read at once when checksums are compared."""
Arrays = dict[str, Shaped[np.ndarray, "points ..."]]


class Store:
    """A store on disk, made by `create` and filled block by block."""

    def __init__(self, path: str | Path) -> None:
        import zarr

        self.path = Path(path)
        self.group = zarr.open_group(self.path, mode="r+", zarr_format=3)
        self.attributes: dict[str, Any] = dict(self.group.attrs)
        self.layout = Layout.read(self.attributes["layout"])

    def write(self, block: int, rows: list[Row], worker: str) -> dict[str, Any]:
        """Write a block's rows, then its mark; return the mark."""
        arrays = _stacked(rows, self.layout.shapes)
        index = self.layout.index(block)
        for name, values in arrays.items():
            self._drop_unreadable(name, block)
            self._array(name)[index[0] : index[-1] + 1] = values
        sync_all((self._chunk(name, block) for name in arrays), self.path)
        failed = {int(i): [row.outcome.code, row.outcome.message] for i, row in enumerate(rows) if row.outcome.message}
        mark = {"block": block, "points": len(rows), "crc": _checksum(arrays), "failed": failed, "worker": worker}
        mark["seconds"] = [round(row.seconds, 6) for row in rows]
        put_mark(self._mark(block), mark)
        return mark

    def read(self, block: int) -> Arrays:
        """Return a block's arrays."""
        index = self.layout.index(block)
        return {name: np.asarray(self._array(name)[index[0] : index[-1] + 1]) for name in self._names}

    def mark(self, block: int) -> dict[str, Any]:
        """Return the mark of a block that is done."""
        mark = read_mark(self._mark(block))
        if mark is None:
            raise DamagedError(f"{self._mark(block)} is damaged; {AGAIN}")
        return mark

    def marks(self) -> dict[int, dict[str, Any]]:
        """Return all whole marks, whether or not their data are there."""
        marks = {}
        for path in sorted((self.path / "marks").glob("block-*.json")):
            mark = read_mark(path)
            if mark is not None and path == self._mark(mark["block"]):
                marks[mark["block"]] = mark
        return marks

    def check_blocks(self) -> None:
        """Refuse to give numbers of a block that is marked as done and has lost a file."""
        for block in self.marks():
            for name in self._names:
                file = self._chunk(name, block).joinpath(*("0" for _ in self.layout.shapes.get(name, ())))
                if not file.is_file():
                    raise DamagedError(f"{file} is lost; {AGAIN}")

    def done(self) -> dict[int, dict[str, Any]]:
        """Return the marks of blocks whose data are there as they were written."""
        marks, sums = self.marks(), self._checksums()
        return {block: marks[block] for block, crc in sums if block in marks and marks[block]["crc"] == crc}

    @property
    def _names(self) -> list[str]:
        return ["result", *sorted(self.layout.shapes)]

    def _array(self, name: str) -> Any:
        array: Any = self.group[name]
        return array.with_config({"write_empty_chunks": True})  # data that are not there are lost, not NaN

    def _checksums(self) -> Iterator[tuple[int, int]]:
        """Yield each block with the checksum of its data, reading many blocks at a time."""
        layout = self.layout
        widest = 8 * layout.block_size * max(int(np.prod(shape)) for shape in layout.shapes.values())
        at_once = max(1, CHECKED // widest)
        for first in range(0, layout.blocks, at_once):
            some = range(first, min(first + at_once, layout.blocks))
            begin, end = layout.index(some[0])[0], layout.index(some[-1])[-1] + 1
            try:
                every = {name: np.asarray(self._array(name)[begin:end]) for name in self._names}
            except Exception:
                yield from self._readable(some)
                continue
            for block in some:
                own = slice(layout.index(block)[0] - begin, layout.index(block)[-1] + 1 - begin)
                yield block, _checksum({name: values[own] for name, values in every.items()})

    def _readable(self, blocks: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Yield the same for blocks that can be read."""
        for block in blocks:
            with contextlib.suppress(Exception):
                yield block, _checksum(self.read(block))

    def _chunk(self, name: str, block: int) -> Path:
        """Return where an array's data of a block are: a file, or a folder where numbers have axes."""
        return self.path / name / "c" / str(block)

    def _drop_unreadable(self, name: str, block: int) -> None:
        """Remove damaged data: a last block, shorter than a chunk, is read before it is written."""
        index = self.layout.index(block)
        try:
            self._array(name)[index[0] : index[-1] + 1]
        except Exception:
            path = self._chunk(name, block)
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def _mark(self, block: int) -> Path:
        return self.path / "marks" / f"block-{block:08d}.json"


def _stacked(rows: list[Row], shapes: Mapping[str, tuple[int, ...]]) -> Arrays:
    arrays: Arrays = {"result": np.array([CODES.index(row.outcome.code) for row in rows], dtype=np.int8)}
    for name, shape in shapes.items():
        empty = np.full(shape, np.nan)
        arrays[name] = np.stack([np.asarray(row.values.get(name, empty), dtype=float) for row in rows])
    return arrays


def shapes_of(values: Values) -> dict[str, tuple[int, ...]]:
    """Return the shape of each number."""
    return {name: tuple(np.shape(value)) for name, value in values.items()}


def _checksum(arrays: Arrays) -> int:
    crc = 0
    for name in sorted(arrays):
        crc = zlib.crc32(np.ascontiguousarray(arrays[name]).tobytes(), crc)
    return crc
