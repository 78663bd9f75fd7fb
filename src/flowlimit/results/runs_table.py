"""Curves from elsewhere: a table with a row per time and trial, turned into arrays over trials and times."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

NEEDS = "needs columns time, train_error or test_error (or other curves), and trial if there are several"


def runs_table(table: Any) -> tuple[Float[np.ndarray, "times"], dict[str, Float[np.ndarray, "trials times"]]]:
    """Return times, and curves of shape (trials, times), from columns by name.

    Examples
    --------
    >>> times, curves = runs_table({"trial": [0, 0, 1, 1], "time": [0, 1, 1, 0], "loss": [4.0, 3.0, 1.0, 2.0]})
    >>> times.tolist(), curves["loss"].tolist()
    ([0.0, 1.0], [[4.0, 3.0], [2.0, 1.0]])
    """
    columns = {str(name): _column(str(name), table[name]) for name in table}
    names = [name for name in columns if name not in ("time", "trial")]
    if "time" not in columns or not names:
        raise ValueError(f"table: given columns {', '.join(columns) or 'none'}, {NEEDS}")
    rows = len(columns["time"])
    if not rows or any(len(column) != rows for column in columns.values()):
        raise ValueError(f"table: given columns of {sorted({len(c) for c in columns.values()})} rows, {NEEDS}")
    trial = columns.get("trial", np.zeros(rows))
    times, which = np.unique(columns["time"], return_inverse=True)
    trials, of = np.unique(trial, return_inverse=True)
    places = of * len(times) + which
    if len(np.unique(places)) != rows or rows != len(trials) * len(times):
        raise ValueError(
            f"table: given {rows} rows for {len(trials)} trials and {len(times)} times, needs one row for each time of "
            f"each trial; several runs need a column trial"
        )
    order = np.argsort(places)
    return times, {name: columns[name][order].reshape(len(trials), len(times)) for name in names}


def read_columns(path: Any) -> dict[str, list[str]]:
    """Return the columns of a .csv file with a line of names."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"path: given {path}, but there is no such file")
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        names, *rows = [row for row in csv.reader(file) if row] or [[]]
    short = next((line for line, row in enumerate(rows, start=2) if len(row) != len(names)), None)
    if short is not None:
        raise ValueError(f"path: {path}, line {short}: given another number of entries than {len(names)} names")
    return {name.strip(): [row[i] for row in rows] for i, name in enumerate(names)}


def _column(name: str, values: Any) -> Float[np.ndarray, "rows"]:
    try:
        column = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: given entries that are no numbers, needs one per row; {NEEDS}") from None
    if column.ndim != 1 or np.isnan(column).any():
        raise ValueError(f"{name}: given gaps or an array of shape {column.shape}, needs one number per row")
    return column
