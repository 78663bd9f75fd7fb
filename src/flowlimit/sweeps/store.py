"""A sweep's store: a zarr group with an array for each number, chunked by blocks of points, and a mark per block done.

A block's data are written first and its mark after them, with a checksum of the data: whatever is killed in between, at
any moment, a block counts as done only if all of it is there and readable. Data are on the disk before their mark is
written, so that a loss of power costs no more than a kill. Writing a block twice writes the same bytes.
"""

import contextlib
import json
import os
import shutil
import uuid
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int, Shaped

from ..asymptotics.case import CASES
from ..numerics.disk import put_text, sync, sync_all
from ..results import Code
from .points import Points
from .rows import Row, Values

FORMAT = 1
CODES = tuple(Code)
MISSING = -1
"""In place of a code where no point has been computed yet."""
CHECKED = 2**26
"""Bytes of each array that are read at once when checksums are compared."""
Arrays = dict[str, Shaped[np.ndarray, "points ..."]]


@dataclass(frozen=True)
class Layout:
    """What a store holds: points in blocks, and the shape of each number."""

    points: int
    block_size: int
    shapes: Mapping[str, tuple[int, ...]]
    shared: Mapping[str, list[float]]
    """Coordinates that all points share, such as the times of curves."""

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return -(-self.points // self.block_size)

    def index(self, block: int) -> Int[np.ndarray, "some"]:
        """Return the points of a block."""
        return np.arange(block * self.block_size, min((block + 1) * self.block_size, self.points))


class Store:
    """A store on disk, made by `create` and filled block by block."""

    def __init__(self, path: str | Path) -> None:
        import zarr

        self.path = Path(path)
        self.group = zarr.open_group(self.path, mode="r+")
        self.attributes: dict[str, Any] = dict(self.group.attrs)
        self.layout = _layout(self.attributes["layout"])

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
        self._put(block, mark)
        return mark

    def read(self, block: int) -> Arrays:
        """Return a block's arrays."""
        index = self.layout.index(block)
        return {name: np.asarray(self._array(name)[index[0] : index[-1] + 1]) for name in self._names}

    def mark(self, block: int) -> dict[str, Any]:
        """Return the mark of a block that is done."""
        return json.loads(self._mark(block).read_text())

    def marks(self) -> dict[int, dict[str, Any]]:
        """Return all whole marks, whether or not their data are there."""
        marks = {}
        for path in sorted((self.path / "marks").glob("block-*.json")):
            try:
                mark = json.loads(path.read_text())
            except ValueError:  # the machine's power went while it was written
                continue
            marks[mark["block"]] = mark
        return marks

    def done(self) -> dict[int, dict[str, Any]]:
        """Return the marks of blocks whose data are there as they were written."""
        marks, sums = self.marks(), self._checksums()
        return {block: marks[block] for block, crc in sums if block in marks and marks[block]["crc"] == crc}

    @property
    def _names(self) -> list[str]:
        return ["result", *sorted(self.layout.shapes)]

    def _array(self, name: str) -> Any:
        return self.group[name]

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

    def _put(self, block: int, mark: Mapping[str, Any]) -> None:
        put_text(self._mark(block), json.dumps(mark))  # a mark is there whole or not at all


def _layout(stored: Mapping[str, Any]) -> Layout:
    shapes = {name: tuple(shape) for name, shape in stored["shapes"].items()}
    return Layout(stored["points"], stored["block_size"], shapes, stored["shared"])


def create(path: Path, layout: Layout, points: Points, description: Mapping[str, Any]) -> None:
    """Make an empty store, whole or not at all: of several processes that do so at once, one wins."""
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex}.partial")
    try:
        _fill(partial, layout, points, description)
        if not path.exists():
            sync_all([partial], partial)
            os.rename(partial, path)  # fails if another process was faster
            sync(path.parent)
    except OSError:
        if not path.exists():
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _fill(path: Path, layout: Layout, points: Points, description: Mapping[str, Any]) -> None:
    import zarr

    attributes = {"kind": "Sweep", "format": FORMAT, "problem": description, "dims": list(points.dims)}
    attributes |= {"shape": list(points.shape), "layout": vars(layout)}
    root = zarr.create_group(path, attributes=attributes)
    root.create_group("marks")

    def add(name: str, shape: tuple[int, ...], kind: str, empty: float | int, flags: dict[str, Any]) -> None:
        names = ("point", *_dims(name, shape, layout))
        laid = {"shape": (layout.points, *shape), "chunks": (layout.block_size, *shape), "dimension_names": names}
        root.create_array(name, dtype=kind, fill_value=empty, attributes=flags, **laid)

    add("result", (), "int8", MISSING, _flags([str(code) for code in CODES]))
    for name, shape in layout.shapes.items():
        add(name, shape, "float64", np.nan, _flags(list(CASES)) if name == "case" else {})
    for name, values in layout.shared.items():
        root.create_array(name, data=np.asarray(values), dimension_names=(name,))
    places = points.places(np.arange(layout.points))
    for name, values in zip(points.names, points.values, strict=True):
        numeric = name in points.numeric
        numbers = np.asarray(values, dtype=float)[places[name]] if numeric else places[name].astype(float)
        labels: dict[str, Any] = {} if numeric else {"labels": _labels(values)}
        root.create_array(name, data=numbers, dimension_names=("point",), attributes=labels)


def _labels(values: Sequence[Any]) -> list[str]:
    """Return what tells values apart that are no numbers: their text, numbered where it is the same."""
    texts = list(map(repr, values))
    return texts if len(set(texts)) == len(texts) else [f"{text} #{i}" for i, text in enumerate(texts)]


def _flags(meanings: list[str]) -> dict[str, Any]:
    return {"flag_values": list(range(len(meanings))), "flag_meanings": " ".join(m.replace(" ", "_") for m in meanings)}


def _dims(name: str, shape: tuple[int, ...], layout: Layout) -> tuple[str, ...]:
    """Name a number's own axes: after a shared coordinate of that length, else after the number."""
    coordinate = next((own for own, values in layout.shared.items() if (len(values),) == shape), None)
    return (coordinate,) if coordinate else tuple(f"{name}_{axis}" for axis in range(len(shape)))


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
