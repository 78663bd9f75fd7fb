"""The unit of work: one block of points, computed and written by whoever runs it."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..results import Code, Outcome
from .create import CODES
from .evaluate import evaluate
from .points import Columns, Points
from .problem import Swept
from .rows import Row, Values
from .store import Store, shapes_of


@dataclass(frozen=True)
class Job:
    """A block of a store, with all that computing it takes: it travels to another process."""

    path: Path
    problem: Swept
    points: Points  # those of the block alone
    block: int
    retry: tuple[int, ...] | None = None  # places in the block that are computed again; all if None


class Report(NamedTuple):
    """What became of a block."""

    block: int
    points: int
    failed: int
    seconds: float
    worker: str


def run(job: Job) -> Report:
    """Compute a block and write it."""
    store = Store(job.path)
    rows = _rows(job, store)
    return report_of(store.write(job.block, rows, worker_name()))


def report_of(mark: Mapping[str, Any]) -> Report:
    """Return what a mark says."""
    return Report(mark["block"], mark["points"], len(mark["failed"]), sum(mark["seconds"]), mark["worker"])


def _rows(job: Job, store: Store) -> list[Row]:
    columns = job.points.columns(np.arange(len(job.points)))
    places = range(len(job.points)) if job.retry is None else job.retry
    some: Columns = {name: [values[i] for i in places] for name, values in columns.items()}
    shapes = store.layout.shapes
    fresh = [_fitted(row, shapes) for row in evaluate(job.problem, job.points, some)]
    if job.retry is None:
        return fresh
    rows = _known(store, job.block)
    for place, row in zip(job.retry, fresh, strict=True):
        rows[place] = row
    return rows


def _known(store: Store, block: int) -> list[Row]:
    """Return the rows that a block has."""
    mark, arrays = store.mark(block), store.read(block)
    messages = {int(place): message for place, (_, message) in mark["failed"].items()}
    names = [name for name in arrays if name != "result"]
    return [
        Row(
            {name: arrays[name][i] for name in names},
            Outcome(CODES[arrays["result"][i]], messages.get(i, "")),
            seconds,
        )
        for i, seconds in enumerate(mark["seconds"])
    ]


def _fitted(row: Row, shapes: Mapping[str, tuple[int, ...]]) -> Row:
    """Return a row in the shapes of its store; curves that broke off end in NaN."""
    if not row.values:
        return row
    whole = row.outcome.code is Code.SUCCESSFUL
    known = {name: row.values[name] for name in shapes if name in row.values}
    values: Values = known if whole else {name: _padded(value, shapes[name]) for name, value in known.items()}
    own = shapes_of(values)
    wrong = [name for name, shape in shapes.items() if own.get(name) != shape]
    if not wrong:
        return row._replace(values=values)
    if not whole:  # it says itself why there is nothing
        return row._replace(values={})
    given = f"{wrong[0]} of shape {own[wrong[0]]}" if wrong[0] in own else f"no {wrong[0]}"
    message = f"gave {given}, the store has shape {shapes[wrong[0]]}; give save_at= to have the same everywhere"
    return Row({}, Outcome(Code.FAILED, message), row.seconds)


def _padded(value: Any, shape: tuple[int, ...]) -> np.ndarray:
    value = np.asarray(value, dtype=float)
    short = value.ndim == len(shape) == 1 and len(value) < shape[0]
    return np.concatenate([value, np.full(shape[0] - len(value), np.nan)]) if short else value


def worker_name() -> str:
    """Return who runs this: a Dask worker's name, or host and process."""
    try:
        from distributed import get_worker

        return str(get_worker().name)
    except (ImportError, ValueError):
        return f"{socket.gethostname()}:{os.getpid()}"
