"""Save and load results: one zarr store per result, with its problem and a format version."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..results import Code, Kernels, Limit, Operators, Outcome, PathSample, Runs

FORMAT = 1
ENDING = ".zarr"


def save(result: Runs | Limit, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a result to a zarr store (a directory).

    Parameters
    ----------
    result
        What a verb returned.
    path
        Where to, e.g. ``"runs.zarr"``; the name ends in ``.zarr``, since nothing else is written.
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
    if not isinstance(result, Runs | Limit):
        raise TypeError(f"result: given {type(result).__name__}, needs a result, e.g. what fl.simulate returned")
    _check_ending(path)
    if Path(path).exists():
        if not overwrite:
            raise FileExistsError(f"{path} exists; give another path, or overwrite=True to replace it")
        if not (Path(path) / "zarr.json").is_file():
            raise FileExistsError(f"{path} exists and is no zarr store: it is not overwritten; give another path")
    data = result.to_xarray().assign_attrs(format=FORMAT)
    data.to_zarr(path, mode="w", consolidated=False)


def load(path: str | Path) -> Runs | Limit:
    """Read a result that `save` wrote.

    The numbers come back as they were, with provenance. The nouns are in ``.provenance["problem"]`` as dictionaries:
    ``fl.from_dict`` makes them anew, except those that hold functions or data.
    """
    import xarray as xr

    if not isinstance(path, str | Path):
        raise TypeError(f"path: given {path!r}, needs the path of a store that fl.save wrote, e.g. 'limit.zarr'")
    if not Path(path).exists():
        raise FileNotFoundError(f"{path} does not exist; give the path of a store that fl.save wrote")
    if not (Path(path) / "zarr.json").is_file():
        raise ValueError(f"{path} is no zarr store; give the path of a store that fl.save wrote")
    with xr.open_zarr(path, consolidated=False, chunks=None) as store:
        data = store.load()
    attrs = data.attrs
    if "format" not in attrs:
        raise ValueError(f"{path} is no result of flowlimit: it has no format version")
    if attrs["format"] > FORMAT:
        raise ValueError(f"{path} has format {attrs['format']}, this version reads up to {FORMAT}; upgrade flowlimit")
    return _limit(data) if attrs["kind"] == "Limit" else _runs(data)


def _check_ending(path: str | Path) -> None:
    given = Path(path)
    if given.suffix != ENDING:
        raise ValueError(
            f"path: given {str(path)!r}, needs a name that ends in {ENDING}, e.g. {str(given.with_suffix(ENDING))!r}. "
            f"For other files write result.times, result.test_error and result.test_error_stderr yourself, e.g. by "
            f"numpy.savetxt; on the command line --out takes .csv, .nc and .json"
        )


def _common(data: Any) -> dict[str, Any]:
    attrs = data.attrs
    return {
        "times": np.asarray(data["time"]),
        "values": {str(name): np.asarray(data[name]) for name in attrs["curves"]},
        "discrete": bool(attrs["discrete"]),
        "result": Outcome(Code(attrs["result"]), attrs["message"]),
        "stats": json.loads(attrs["stats"]),
        "provenance": json.loads(attrs["provenance"]),
        "time_error": _part(data, "time_error"),
    }


def _runs(data: Any) -> Runs:
    return Runs(
        **_common(data),
        weights=_optional(data, "weights"),
        weights_times=_optional(data, "weights_time"),
        w_star=_optional(data, "w_star"),
    )


def _limit(data: Any) -> Limit:
    common = _common(data)
    edges = common["stats"].get("edges")
    read = lambda *names, prefix="": {name: np.asarray(data[f"{prefix}{name}"]) for name in names}
    kernels = operators = paths = None
    if "C_w" in data.variables:
        times, names = np.asarray(data["node"]), ("C_w", "C_f", "R_w", "R_f")
        stderr = {name: np.asarray(data[f"{name}_stderr"]) for name in names}
        kernels = Kernels(times, **read(*names), stderr=stderr)
        operators = Operators(times, np.asarray(data["weights"]), **read("S", "R_w", "R_f", prefix="operator_"))
    if "path_w" in data.variables:
        arrays = read("w", "g", "z", "w_star", "probability", prefix="path_")
        paths = PathSample(np.asarray(data["node"]), **arrays, edges=None if edges is None else np.asarray(edges))
    common |= {"statistical": _part(data, "statistical"), "bias": _part(data, "bias")}
    return Limit(**common, kernels=kernels, operators=operators, paths=paths)


def _part(data: Any, ending: str) -> dict[str, np.ndarray]:
    return {name: np.asarray(data[f"{name}_{ending}"]) for name in data.attrs["curves"] if f"{name}_{ending}" in data}


def _optional(data: Any, name: str) -> np.ndarray | None:
    return np.asarray(data[name]) if name in data.variables else None
