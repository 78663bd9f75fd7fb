"""An empty store for a sweep, and whether a folder still is one."""

import os
import shutil
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped

from ..asymptotics.case import CASES
from ..numerics.disk import DamagedError, check_folder, seal, sync, sync_all
from ..numerics.plain_zarr import arrays, as_it_is, read_node
from ..results import Code
from .layout import Layout
from .points import Points

FORMAT = 1
CODES = tuple(Code)
MISSING = -1
"""In place of a code where no point has been computed yet."""


def create(path: Path, layout: Layout, points: Points, description: Mapping[str, Any]) -> None:
    """Make an empty store, whole or not at all: of several processes that do so at once, one wins."""
    partial = path.with_name(f"{path.name}.{uuid.uuid4().hex}.partial")
    try:
        _fill(partial, layout, points, description)
        seal(partial)
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
        laid = as_it_is((layout.block_size, *shape)) | {"shape": (layout.points, *shape), "dimension_names": names}
        root.create_array(name, dtype=kind, fill_value=empty, attributes=flags, **laid)

    def put(name: str, values: Shaped[np.ndarray, "length"], dim: str, flags: dict[str, Any]) -> None:
        every: Any = {"write_empty_chunks": True}
        laid = as_it_is(values.shape) | {"data": values, "dimension_names": (dim,), "config": every}
        root.create_array(name, attributes=flags, **laid)

    add("result", (), "int8", MISSING, _flags([str(code) for code in CODES]))
    for name, shape in layout.shapes.items():
        add(name, shape, "float64", np.nan, _flags(list(CASES)) if name == "case" else {})
    for name, values in layout.shared.items():
        put(name, np.asarray(values, dtype=float), name, {})
    places = points.places(np.arange(layout.points))
    for name, values in zip(points.names, points.values, strict=True):
        numeric = name in points.numeric
        numbers = np.asarray(values, dtype=float)[places[name]] if numeric else places[name].astype(float)
        labels: dict[str, Any] = {} if numeric else {"labels": _labels(values)}
        put(name, numbers, "point", labels)


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


def check_store(path: Path) -> None:
    """Refuse a folder that is no sweep, that was changed, or that would need more memory than it says."""
    attributes = read_node(path / "zarr.json").get("attributes", {})
    if attributes.get("kind") != "Sweep":
        raise ValueError(f"{path} is no sweep of flowlimit; give the path of a store that fl.sweep made")
    if attributes["format"] > FORMAT:
        given = attributes["format"]
        raise ValueError(f"{path} has format {given}, this version reads up to {FORMAT}; upgrade flowlimit")
    check_folder(path, grows=True)
    layout, columns = Layout.read(attributes["layout"]), attributes["problem"]["over"]
    kinds = {"result": "int8"} | dict.fromkeys(layout.shapes, "float64")
    declared = {
        name: (kind, (layout.points, *layout.shapes.get(name, ())), (layout.block_size, *layout.shapes.get(name, ())))
        for name, kind in kinds.items()
    }
    lengths = {name: len(values) for name, values in layout.shared.items()} | dict.fromkeys(columns, layout.points)
    declared |= {name: ("float64", (length,), (length,)) for name, length in lengths.items()}
    for array in arrays(path):
        if declared.get(array.path.relative_to(path).as_posix()) != (array.kind, array.shape, array.chunk):
            raise DamagedError(f"{array.path} is not the array that this sweep has; give a store that fl.sweep made")
        if array.path.name in lengths:
            array.check_files(whole=True)
