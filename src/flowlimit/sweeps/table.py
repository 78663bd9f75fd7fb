"""What a sweep gives: its store, read number by number, in the shape of its axes."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..numerics.disk import DamagedError
from ..problem.checks import shown
from ..results import Code, Outcome
from .create import CODES, MISSING, check_store
from .layout import Layout
from .store import AGAIN, Store

if TYPE_CHECKING:
    import xarray


class Failure(NamedTuple):
    """A point that did not end well: where it is, and what happened."""

    point: Mapping[str, Any]
    outcome: Outcome


@dataclass(frozen=True, repr=False)
class Table:
    """The results of a sweep.

    Attributes
    ----------
    path
        Its store. ``xarray.open_zarr(path)`` reads it without this package: one axis ``point``, coordinates beside it.
    """

    path: Path

    def __getitem__(self, name: str) -> "xarray.DataArray":
        """Return one number over all axes, read from the store now: ``table["test_error"]``."""
        if name not in self.points:
            raise KeyError(f"given {name!r}, the table has {', '.join(map(str, self.points.data_vars))}")
        try:
            return self._shaped(self.points[name])
        except ValueError as error:  # what a checksum says that does not hold
            raise DamagedError(f"{self.path}: {name} is damaged ({error}); {AGAIN}") from None

    @cached_property
    def points(self) -> "xarray.Dataset":
        """Everything, lazily, along one axis of points: nothing is read before it is used."""
        import xarray as xr

        self._store.check_blocks()
        data = xr.open_zarr(self.path, consolidated=False, chunks=None)
        data = data[["result", *self._layout.shapes, *self._columns, *self._layout.shared]]  # in their order
        data = data.set_coords(self._columns)
        labels = {name: data[name].attrs["labels"] for name in self._columns if "labels" in data[name].attrs}
        named = {name: ("point", np.asarray(own)[data[name].to_numpy().astype(int)]) for name, own in labels.items()}
        return data.assign_coords(named)

    def to_xarray(self) -> "xarray.Dataset":
        """Return everything in the shape of the axes, read now, with the seconds of each point."""
        import xarray as xr

        every = {str(name): self[str(name)] for name in self.points.data_vars}
        return xr.Dataset(every | {"seconds": self.seconds}, attrs=self.points.attrs)

    @property
    def seconds(self) -> "xarray.DataArray":
        """Time that each point took; NaN where it is missing. A batch's time is shared evenly among its points."""
        import xarray as xr

        values = np.full(self._layout.points, np.nan)
        for block, mark in self._store.marks().items():
            values[self._layout.index(block)] = mark["seconds"]
        coords = {name: self.points[name] for name in self._columns}
        return self._shaped(xr.DataArray(values, dims="point", coords=coords))

    @property
    def failures(self) -> list[Failure]:
        """Points that failed or did not reach their accuracy, with what happened."""
        return list(self._failures())

    def _failures(self) -> Iterator[Failure]:
        columns = {name: self.points[name].to_numpy() for name in self._columns}
        for block, mark in sorted(self._store.marks().items()):
            index = self._layout.index(block)
            for place, (code, message) in sorted(mark["failed"].items(), key=lambda item: int(item[0])):
                point = {name: values[index[int(place)]].item() for name, values in columns.items()}
                yield Failure(point, Outcome(Code(code), message))

    @property
    def missing(self) -> int:
        """Number of points not computed yet."""
        return self._layout.points - sum(mark["points"] for mark in self._store.marks().values())

    @property
    def problem(self) -> Mapping[str, Any]:
        """What was swept: version, verb, nouns, options and axes, as plain data."""
        return self._store.attributes["problem"]

    @cached_property
    def _store(self) -> Store:
        return Store(self.path)

    @property
    def _layout(self) -> Layout:
        return self._store.layout

    @property
    def _columns(self) -> list[str]:
        return list(self.problem["over"])

    def _shaped(self, flat: "xarray.DataArray") -> "xarray.DataArray":
        """Return a number along its axes; a list of points stays one."""
        dims, shape = self._store.attributes["dims"], self._store.attributes["shape"]
        if dims == ["point"]:
            return flat.load()
        import xarray as xr

        rest = [dim for dim in flat.dims if dim != "point"]
        values = flat.transpose("point", *rest).to_numpy()
        coords: dict[Any, Any] = {dim: flat[dim] for dim in rest if dim in flat.coords}
        for axis, dim in enumerate(dims):
            along = flat[dim].to_numpy().reshape(shape)
            coords[dim] = np.moveaxis(along, axis, 0).reshape(shape[axis], -1)[:, 0]
        return xr.DataArray(values.reshape(*shape, *values.shape[1:]), coords, [*dims, *rest], flat.name, flat.attrs)

    def __repr__(self) -> str:
        verb = self.problem["verb"]["function"].partition(":")[2]
        dims, shape = self._store.attributes["dims"], self._store.attributes["shape"]
        axes = " x ".join(f"{length} {dim}" for dim, length in zip(dims, shape, strict=True))
        lines = [f"{verb} over {axes}: {', '.join(map(str, self.points.data_vars))}"]
        counts = dict(zip(*np.unique(self.points["result"].to_numpy(), return_counts=True), strict=True))
        named = {("missing" if code == MISSING else str(CODES[code])): int(n) for code, n in counts.items()}
        lines.append("  " + ", ".join(f"{n} {name}" for name, n in named.items()))
        some = itertools.islice(self._failures(), 3)
        return "\n".join([*lines, *(f"  {dict(point)}: {outcome.message}" for point, outcome in some)])


def open_sweep(path: str | Path) -> Table:
    """Open a store that `sweep` made, finished or not.

    Examples
    --------
    >>> import tempfile, flowlimit as fl
    >>> task = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scales = {"model.init_scale": [0.1, 1.0]}
    ...     table = fl.sweep(fl.timescales, fl.DiagonalLinear(0.3), task, over=scales, store=f"{folder}/atlas.zarr")
    ...     print(fl.open_sweep(f"{folder}/atlas.zarr")["search"].dims)
    ('model.init_scale',)
    """
    if not isinstance(path, str | Path) or "\0" in str(path):
        raise TypeError(f"path: given {shown(path)}, needs the path of a store, e.g. 'sweep.zarr'")
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist; give the path of a store that fl.sweep made")
    if not (path / "zarr.json").is_file():
        raise ValueError(f"{path} is no sweep of flowlimit; give the path of a store that fl.sweep made")
    check_store(path)
    return Table(path)
