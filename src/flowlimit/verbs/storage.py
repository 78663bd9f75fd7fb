"""Save and load results: the tree of `to_datatree` in a zarr store with a format version, or numbers in a file.

Format 1. The root's attributes say what the result is, how it ended and, as JSON, where it came from; groups hold the
arrays: curves, replicas or trials, errors/<part>, kernels, operators, paths, weights; a selection has the trees of its
estimates, by their places. Curves are there for other programs: they follow from the rest, and are not read back.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..numerics.disk import SEAL, DamagedError, check_folder, is_there, write_folder
from ..numerics.plain_zarr import arrays, as_it_is, read_node
from ..problem.checks import shown
from ..problem.noun import Noun, from_dict
from ..results import (
    Choice,
    ClosedForm,
    Code,
    Estimate,
    EstimateStats,
    Kernels,
    Limit,
    Operators,
    Outcome,
    PathSample,
    Runs,
    RunStats,
    Selection,
    SolveStats,
    Stopping,
)
from ..results.answer import NOUNS, Answer
from ..results.estimate import PARTS as ESTIMATE_PARTS
from ..results.limit import KERNELS, PARTS
from ..results.same import same
from ..results.selection import ESTIMATES
from .export import WRITERS, export

FORMAT = 1
ENDING = ".zarr"
RESULTS = ("Runs", "Limit", "Estimate", "Selection")
GROUPS = ("curves", "replicas", "trials", "run", "errors", "kernels", "operators", "paths", "weights", ESTIMATES)

Saved = Runs | Limit | Estimate | Selection
"""What `load` may return."""


def save(result: Answer | ClosedForm | Selection, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a result to a file, in the format that the path's ending says.

    Whole or not at all: it is written beside its place, and is on the disk before it takes it.

    Parameters
    ----------
    result
        What a verb returned.
    path
        Where to. ``"runs.zarr"`` (a directory) keeps everything, and `load` reads it back: limits, runs, estimates
        and selections. ``.nc``, ``.csv`` and ``.json`` keep the numbers for other programs: curves and errors over
        time, or one row of a closed form.
    overwrite
        Whether an existing file of the same kind may be replaced: it is there until the new one is written whole.

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
    if not isinstance(result, Answer | ClosedForm | Selection):
        raise TypeError(f"result: given {type(result).__name__}, needs a result, e.g. what fl.simulate returned")
    path = _checked_path(path, [*WRITERS] if isinstance(result, ClosedForm) else [ENDING, *WRITERS])
    if path.exists() or path.is_symlink():
        if not overwrite:
            raise FileExistsError(f"{path} exists; give another path, or overwrite=True to replace it")
        if not ((path / SEAL).is_file() and _kind(path) in RESULTS if path.suffix == ENDING else path.is_file()):
            raise FileExistsError(
                f"{path} exists and is no result of fl.save: it is not overwritten; give another path"
            )
    if path.suffix == ENDING:
        _save_zarr(result, path)
    else:
        export(result, path)


def _save_zarr(result: Any, path: Path) -> None:
    import zarr

    tree = result.to_datatree()
    tree.attrs["format"] = FORMAT
    encoding = {
        group.path: {name: as_it_is(one.shape) for name, one in group.variables.items()} for group in tree.subtree
    }
    with zarr.config.set({"array.write_empty_chunks": True}):  # data that are not there are lost, not NaN
        write_folder(path, lambda beside: tree.to_zarr(beside, mode="w", consolidated=False, encoding=encoding))


def load(path: str | Path, *, model: Any = None, task: Any = None, training: Any = None) -> Saved:
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
        raise TypeError(f"path: given {shown(path)}, needs the path of a store that fl.save wrote, e.g. 'limit.zarr'")
    if not is_there(Path(path)):
        raise FileNotFoundError(
            f"path: given {shown(str(path))}, which does not exist; give the path of a store that fl.save wrote"
        )
    if not (Path(path) / "zarr.json").is_file():
        raise ValueError(f"{path} is no zarr store; give the path of a store that fl.save wrote")
    _check_format(Path(path))
    check_folder(Path(path))
    _check_arrays(Path(path))
    with xr.open_datatree(path, engine="zarr", consolidated=False, chunks=None) as store:
        tree = store.load()
    given = {"model": model, "task": task, "training": training}
    return READERS[tree.attrs["kind"]](tree, given)


def _check_format(path: Path) -> None:
    """Refuse what is no result of ours, by the attributes of its root alone: nothing else is read before that."""
    attributes = read_node(path / "zarr.json").get("attributes", {})
    known, kind = attributes.get("format"), attributes.get("kind")
    if not isinstance(known, int):
        raise ValueError(f"{path} is no result of flowlimit: it has no format version")
    if kind not in RESULTS:
        raise ValueError(
            f"{path} holds a {kind}, no result; {'fl.open_sweep reads it' if kind == 'Sweep' else 'give another'}"
        )
    if known > FORMAT:
        raise ValueError(f"{path} has format {known}, this version reads up to {FORMAT}; upgrade flowlimit")
    if not (path / "curves").is_dir():
        raise ValueError(f"{path} was written before format {FORMAT} was settled; compute the result anew and save it")


def _check_arrays(path: Path) -> None:
    """Refuse arrays that a result does not have, or whose files are not of the size that they declare."""
    for array in arrays(path):
        group = array.path.relative_to(path).parts[0]
        if group not in GROUPS:
            raise DamagedError(f"{array.path} is no array of a result; give a store that fl.save wrote")
        array.check_files(whole=True)


def _kind(path: Path) -> Any:
    return read_node(path / "zarr.json").get("attributes", {}).get("kind")


def _checked_path(path: Any, endings: list[str]) -> Path:
    if not isinstance(path, str | Path) or "\0" in str(path):
        raise TypeError(f"path: given {shown(path)}, needs a path, e.g. 'limit.zarr'")
    given = Path(path)
    if given.suffix not in endings:
        raise ValueError(
            f"path: given {str(path)!r}, needs a name that ends in {', '.join(endings)}, e.g. "
            f"{str(given.with_suffix(endings[0]))!r}"
        )
    if not given.parent.is_dir():
        raise FileNotFoundError(f"path: given {str(path)!r}, but there is no folder {given.parent}; make it first")
    return given


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
                f"{name}: given {shown(given)}, but the file is of {saved}; give that one, or leave {name}= out"
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


def _estimate(tree: Any, given: dict[str, Any]) -> Estimate:
    stopping = json.loads(tree.attrs["stopping"])
    parts: dict[str, Any] = {part: _part(tree, part) for part in ESTIMATE_PARTS}
    return Estimate(
        **_common(tree, "run", given),
        **parts,
        stats=EstimateStats(**json.loads(tree.attrs["stats"])),
        weights=_read(tree["weights"], "weights"),
        left_out=_read(tree["weights"], "left_out"),
        stopping=None if stopping is None else Stopping(*stopping),
        strains=tuple(json.loads(tree.attrs["strains"])),
    )


def _selection(tree: Any, given: dict[str, Any]) -> Selection:
    choice, curves = json.loads(tree.attrs["choice"]), tree["curves"]
    saved = tree[ESTIMATES].children
    return Selection(
        estimates=tuple(_estimate(saved[str(index)], given) for index in range(len(saved))),
        times=_read(curves, "time"),
        choice=None if choice is None else Choice(*choice),
        ratio=_read(curves, "ratio"),
        ratio_stderr=_read(curves, "ratio_stderr"),
        share=_read(curves, "share"),
    )


READERS = {"Limit": _limit, "Runs": _runs, "Estimate": _estimate, "Selection": _selection}


def _kernels(group: Any) -> Kernels:
    errors = {name: _read(group, f"{name}_stderr") for name in KERNELS if f"{name}_stderr" in group}
    return Kernels(_read(group, "t"), *(_read(group, name) for name in KERNELS), stderr=errors)


def _operators(group: Any) -> Operators:
    return Operators(_read(group, "t"), *(_read(group, name) for name in ("weights", "S", "R_w", "R_f")))


def _paths(group: Any) -> PathSample:
    names = ("time", "w", "g", "z", "w_star", "probability")
    rest = {name: _read(group, name) for name in ("edges", "variance") if name in group}
    return PathSample(*(_read(group, name) for name in names), **rest)


INNER = {"kernels": _kernels, "operators": _operators, "paths": _paths}


def _part(tree: Any, name: str) -> dict[str, np.ndarray]:
    errors = tree.children.get("errors")
    if errors is None or name not in errors.children:
        return {}
    return {str(curve): _read(errors[name], curve) for curve in errors[name].data_vars}


def _read(group: Any, name: Any) -> np.ndarray:
    return np.asarray(group[name])
