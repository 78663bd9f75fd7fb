"""Save and load results: one zarr store a result, with its problem and a format version."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..results import Code, Outcome, Runs

FORMAT = 1


def save(result: Runs, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a result to a zarr store (a directory).

    Parameters
    ----------
    result
        What a verb returned.
    path
        Where to, e.g. ``"runs.zarr"``.
    overwrite
        Whether an existing store may be replaced.

    Examples
    --------
    >>> import tempfile, flowlimit as fl
    >>> model, task = fl.Linear(), fl.Regression(2.0, 0.1, fl.Normal())
    >>> runs = fl.simulate(model, task, fl.GradientDescent(0.1, 5), dim=20, trials=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fl.save(runs, f"{folder}/runs.zarr")
    ...     bool((fl.load(f"{folder}/runs.zarr").train_error == runs.train_error).all())
    True
    """
    if not isinstance(result, Runs):
        raise TypeError(f"result: given {type(result).__name__}, needs a result, e.g. what fl.simulate returned")
    if Path(path).exists():
        if not overwrite:
            raise FileExistsError(f"{path} exists; give another path, or overwrite=True to replace it")
        if not (Path(path) / "zarr.json").is_file():
            raise FileExistsError(f"{path} exists and is no zarr store: it is not overwritten; give another path")
    data = result.to_xarray().assign_attrs(format=FORMAT)
    data.to_zarr(path, mode="w", consolidated=False)


def load(path: str | Path) -> Runs:
    """Read a result that `save` wrote.

    The numbers come back as they were, with provenance. The nouns are in ``.provenance["problem"]`` as dictionaries:
    ``fl.from_dict`` makes them anew, except those that hold functions or data.
    """
    import xarray as xr

    if not Path(path).exists():
        raise FileNotFoundError(f"{path} does not exist; give the path of a store that fl.save wrote")
    with xr.open_zarr(path, consolidated=False, chunks=None) as store:
        data = store.load()
    attrs = data.attrs
    if "format" not in attrs:
        raise ValueError(f"{path} is no result of flowlimit: it has no format version")
    if attrs["format"] > FORMAT:
        raise ValueError(f"{path} has format {attrs['format']}, this version reads up to {FORMAT}; upgrade flowlimit")
    return Runs(
        times=np.asarray(data["time"]),
        values={str(name): np.asarray(data[name]) for name in attrs["curves"]},
        discrete=bool(attrs["discrete"]),
        result=Outcome(Code(attrs["result"]), attrs["message"]),
        stats=json.loads(attrs["stats"]),
        provenance=json.loads(attrs["provenance"]),
        time_error={
            name: np.asarray(data[f"{name}_time_error"]) for name in attrs["curves"] if f"{name}_time_error" in data
        },
        weights=_optional(data, "weights"),
        weights_times=_optional(data, "weights_time"),
        w_star=_optional(data, "w_star"),
    )


def _optional(data: Any, name: str) -> np.ndarray | None:
    return np.asarray(data[name]) if name in data.variables else None
