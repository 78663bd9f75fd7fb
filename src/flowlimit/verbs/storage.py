"""Save and load results: one zarr store per result, the tree of `to_datatree` with a format version.

Format 1. The root's attributes say what the result is, how it ended and, as JSON, where it came from; groups hold the
arrays: curves, replicas or trials, errors/<part>, kernels, operators, paths, weights. Curves are there for other
programs: they follow from the rest, and are not read back.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..numerics.disk import SEAL, DamagedError, check_folder, write_folder
from ..problem.noun import Noun, from_dict
from ..results import Code, Kernels, Limit, Operators, Outcome, PathSample, Runs, RunStats, SolveStats
from ..results.answer import NOUNS
from ..results.limit import KERNELS, PARTS
from ..results.same import same

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
        Whether an existing result may be replaced: it is there until the new one is written whole.

    Examples
    --------
    >>> import tempfile, flowlimit as fl
    >>> model, task = fl.Linear(), fl.Regression(2.0, noise_var=0.1, target=fl.Normal())
    >>> runs = fl.simulate(model, task, fl.GradientDescent(0.1, num_steps=5), dim=20, trials=2)
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
        if not (Path(path) / SEAL).is_file():
            raise FileExistsError(
                f"{path} exists and is no result of fl.save: it is not overwritten; give another path"
            )
    tree = result.to_datatree()
    tree.attrs["format"] = FORMAT
    write_folder(Path(path), lambda beside: tree.to_zarr(beside, mode="w", consolidated=False))


def load(path: str | Path, *, model: Any = None, task: Any = None, training: Any = None) -> Runs | Limit:
    """Read a result that `save` wrote.

    The numbers come back as they were, with provenance and nouns; a store whose checksums are not those of its files is
    refused. Functions and data are not kept in the file: a noun
    that holds some is None, unless it is given here.

    Parameters
    ----------
    path
        What `save` was given.
    model, task, training
        Nouns that hold functions or data, if the result is to have them; each must be the one that was saved.

    Examples
    --------
    >>> import tempfile, flowlimit as fl
    >>> task = fl.Regression(2.0, noise_var=0.1, target=fl.Normal())
    >>> problem = fl.Linear(), task, fl.GradientDescent(0.1, num_steps=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fl.save(fl.simulate(*problem, dim=20, trials=2), f"{folder}/runs.zarr")
    ...     fl.load(f"{folder}/runs.zarr").training
    GradientDescent(step_size=0.1, num_steps=5)
    """
    import xarray as xr

    if not isinstance(path, str | Path):
        raise TypeError(f"path: given {path!r}, needs the path of a store that fl.save wrote, e.g. 'limit.zarr'")
    if not Path(path).exists():
        raise FileNotFoundError(f"{path} does not exist; give the path of a store that fl.save wrote")
    if not (Path(path) / "zarr.json").is_file():
        raise ValueError(f"{path} is no zarr store; give the path of a store that fl.save wrote")
    _check_format(Path(path))
    check_folder(Path(path))
    with xr.open_datatree(path, engine="zarr", consolidated=False, chunks=None) as store:
        tree = store.load()
    given = {"model": model, "task": task, "training": training}
    return (_limit if tree.attrs["kind"] == "Limit" else _runs)(tree, given)


def _check_format(path: Path) -> None:
    """Refuse what is no result of ours, by the attributes of its root alone: nothing else is read before that."""
    try:
        attributes = json.loads((path / "zarr.json").read_text())["attributes"]
        known = attributes.get("format")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DamagedError(
            f"{path}: zarr.json is damaged; restore it from a copy, or compute the result anew"
        ) from None
    if not isinstance(known, int):
        raise ValueError(f"{path} is no result of flowlimit: it has no format version")
    if known > FORMAT:
        raise ValueError(f"{path} has format {known}, this version reads up to {FORMAT}; upgrade flowlimit")
    if not (path / "curves").is_dir():
        raise ValueError(f"{path} was written before format {FORMAT} was settled; compute the result anew and save it")


def _check_ending(path: str | Path) -> None:
    given = Path(path)
    if given.suffix != ENDING:
        raise ValueError(
            f"path: given {str(path)!r}, needs a name that ends in {ENDING}, e.g. {str(given.with_suffix(ENDING))!r}. "
            f"For other files write result.times, result.test_error and result.test_error_stderr yourself, e.g. by "
            f"numpy.savetxt; on the command line --out takes .csv, .nc and .json"
        )


def _common(tree: Any, samples: str, given: dict[str, Any]) -> dict[str, Any]:
    attrs, origin = tree.attrs, json.loads(tree.attrs["provenance"])
    return {
        "times": _read(tree[samples], "time"),
        "values": {name: _read(tree[samples], name) for name in json.loads(attrs["curves"])},
        "discrete": bool(attrs["discrete"]),
        "result": Outcome(Code(attrs["result"]), attrs["message"]),
        "provenance": origin,
        **{name: _noun(name, given[name], origin.get("problem", {}).get(name)) for name in NOUNS},
    }


def _noun(name: str, given: Any, saved: dict[str, Any] | None) -> Any:
    """Return the noun that was saved: the one given, if it is the same, or made anew; None if it cannot be."""
    if given is not None:
        if not isinstance(given, Noun) or not same(given.to_dict(), saved):
            raise ValueError(
                f"{name}: given {given!r}, but the file is of {saved}; give that one, or leave {name}= out"
            )
        return given
    try:
        return None if saved is None else from_dict(saved)
    except (ValueError, TypeError):  # functions and data are not kept
        return None


def _runs(tree: Any, given: dict[str, Any]) -> Runs:
    weights = tree.children.get("weights")
    kept: dict[str, Any] = {}
    if weights is not None:
        kept = {"weights": _read(weights, "weights"), "weights_times": _read(weights, "time")}
        kept["w_star"] = _read(weights, "w_star") if "w_star" in weights else None
    stats = RunStats(**json.loads(tree.attrs["stats"]))
    return Runs(**_common(tree, "trials", given), stats=stats, time_error=_part(tree, "time_error"), **kept)


def _limit(tree: Any, given: dict[str, Any]) -> Limit:
    numbers = json.loads(tree.attrs["stats"])
    stats = SolveStats(**numbers | {"edges": None if numbers["edges"] is None else tuple(numbers["edges"])})
    inner = {name: make(tree[name]) for name, make in INNER.items() if name in tree.children}
    parts = {part: _part(tree, part) for part in PARTS}
    return Limit(**_common(tree, "replicas", given), stats=stats, **parts, **inner)


def _kernels(group: Any) -> Kernels:
    errors = {name: _read(group, f"{name}_stderr") for name in KERNELS if f"{name}_stderr" in group}
    return Kernels(_read(group, "t"), *(_read(group, name) for name in KERNELS), stderr=errors)


def _operators(group: Any) -> Operators:
    return Operators(_read(group, "t"), *(_read(group, name) for name in ("weights", "S", "R_w", "R_f")))


def _paths(group: Any) -> PathSample:
    edges = _read(group, "edges") if "edges" in group else None
    names = ("time", "w", "g", "z", "w_star", "probability")
    return PathSample(*(_read(group, name) for name in names), edges=edges)


INNER = {"kernels": _kernels, "operators": _operators, "paths": _paths}


def _part(tree: Any, name: str) -> dict[str, np.ndarray]:
    errors = tree.children.get("errors")
    if errors is None or name not in errors.children:
        return {}
    return {str(curve): _read(errors[name], curve) for curve in errors[name].data_vars}


def _read(group: Any, name: Any) -> np.ndarray:
    return np.asarray(group[name])
