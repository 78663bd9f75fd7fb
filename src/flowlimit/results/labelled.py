"""Results as labelled data: data sets and trees of xarray, tidy tables of pandas. Both are imported when asked for."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .words import attributes

if TYPE_CHECKING:
    import pandas
    import xarray

    from .record import Record

Dims = tuple[str, ...]


def dataset(arrays: Iterable[tuple[str, Dims, Any]], coords: Mapping[str, Any]) -> "xarray.Dataset":
    """Return a data set of arrays given as name, axes and values, along coordinates of one axis each."""
    import xarray as xr

    own = {name: (dims, np.asarray(value), attributes(name)) for name, dims, value in arrays}
    return xr.Dataset(own, {name: ((name,), np.asarray(value), attributes(name)) for name, value in coords.items()})


def curves_dataset(record: "Record") -> "xarray.Dataset":
    """Return curves and standard errors over time."""
    arrays = [
        (f"{name}{ending}", ("time",), getattr(curve, of))
        for name, curve in record.curves.items()
        for ending, of in (("", "value"), ("_stderr", "stderr"))
    ]
    return dataset(arrays, {"time": record.times})


def curves_dataframe(record: "Record") -> "pandas.DataFrame":
    """Return curves as rows of time, curve, value and stderr."""
    import pandas as pd  # xarray brings it

    names, count = list(record.curves), len(record.times)
    flat = lambda of: np.concatenate([getattr(curve, of) for curve in record.curves.values()] or [np.zeros(0)])
    columns = {"time": np.tile(record.times, len(names)), "curve": np.repeat(np.array(names, dtype=object), count)}
    return pd.DataFrame(columns | {"value": flat("value"), "stderr": flat("stderr")})


def samples_dataset(record: Any, over: str) -> "xarray.Dataset":
    """Return the curves of every replica or trial."""
    arrays = [(name, (over, "time"), value) for name, value in record.values.items()]
    return dataset(arrays, {"time": record.times, over: np.arange(len(next(iter(record.values.values()))))})


def parts_dataset(times: np.ndarray, part: Mapping[str, np.ndarray]) -> "xarray.Dataset":
    """Return one part of the standard error of each curve."""
    return dataset([(name, ("time",), value) for name, value in part.items()], {"time": times})


def make_tree(groups: Mapping[str, "xarray.Dataset"], attrs: Mapping[str, Any]) -> "xarray.DataTree":
    """Return a tree of data sets by their paths."""
    import xarray as xr

    return xr.DataTree.from_dict({"/": xr.Dataset(attrs=dict(attrs)), **groups})
