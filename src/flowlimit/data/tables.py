"""A user's table from a file: features X and the column that is to be predicted."""

import csv
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float


class Table(NamedTuple):
    """Features, labels, and the names of the features."""

    X: Float[np.ndarray, "samples dim"]
    y: Float[np.ndarray, "samples"]
    names: tuple[str, ...]


def read_table(path: str | Path, target: str) -> Table:
    r"""Read a table with one row per sample; ``target`` is the column to predict, all others are features.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "data.csv"
    ...     _ = file.write_text("a,b,y\n1,2,3\n4,5,6\n")
    ...     read_table(file, "y").X.tolist()
    [[1.0, 2.0], [4.0, 5.0]]
    """
    path = Path(path)
    if path.suffix not in READERS:
        raise ValueError(f"data: given {path}, needs a file that ends in {', '.join(READERS)}")
    if not path.is_file():
        raise FileNotFoundError(f"data: given {path}, but there is no such file")
    return READERS[path.suffix](path, target)


def _read_csv(path: Path, target: str) -> Table:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if row]
    if len(rows) < 2:
        raise ValueError(f"data: {path} has {len(rows)} lines, needs a line of names and one for each sample")
    names = [name.strip() for name in rows[0]]
    numbers = np.empty((len(rows) - 1, len(names)))
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise ValueError(f"data: {path}, line {line}: {len(row)} entries, needs {len(names)}, one for each name")
        for column, text in enumerate(row):
            numbers[line - 2, column] = _number(path, line, names[column], text)
    return _split(path, names, numbers, target)


def _number(path: Path, line: int, name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        fix = "needs numbers: leave out columns of words and rows with gaps, or fill them first"
        raise ValueError(f"data: {path}, line {line}, column {name!r}: given {text!r}, {fix}")
    return value


def _read_npz(path: Path, target: str) -> Table:
    with np.load(path, allow_pickle=False) as arrays:
        if "X" not in arrays or target not in arrays:
            there = ", ".join(arrays.files)
            raise ValueError(f"data: {path} has {there}, needs an array X and one named {target!r} (--target)")
        X, y = arrays["X"], arrays[target]
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ValueError(
            f"data: {path} has X of shape {X.shape} and {target} {y.shape}, needs (samples, dim), (samples,)"
        )
    return Table(X.astype(float), y.astype(float), tuple(map(str, range(X.shape[1]))))


def _read_parquet(path: Path, target: str) -> Table:
    try:
        import pandas as pd

        frame: Any = pd.read_parquet(path)
    except ImportError as error:
        raise ImportError(f"data: {path} needs pandas with pyarrow to be read; pip install pyarrow ({error})") from None
    names = [str(name) for name in frame.columns]
    try:
        numbers = frame.to_numpy(dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"data: {path} needs numbers in all columns: {error}") from None
    return _split(path, names, numbers, target)


def _split(path: Path, names: list[str], numbers: np.ndarray, target: str) -> Table:
    if names.count(target) != 1:
        some = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise ValueError(f"target: given {target!r}, needs one of the columns of {path}: {some}")
    column = names.index(target)
    return Table(np.delete(numbers, column, axis=1), numbers[:, column], tuple(n for n in names if n != target))


READERS = {".csv": _read_csv, ".npz": _read_npz, ".parquet": _read_parquet}
