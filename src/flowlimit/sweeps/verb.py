"""The verb `sweep`: any verb, or a user's function, at many points, into one store that can be resumed."""

import math
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..problem.checks import shown
from ..problem.models import Model
from ..problem.tasks import Dataset, Task
from ..problem.trainings import Training
from ..results import FlowlimitError
from ..verbs.progress import Progress, reporter
from ..words import NAMES, hint
from .batched import is_batched
from .create import check_store, create
from .evaluate import evaluate
from .executors import check_executor, run_all
from .fingerprint import differences, fingerprint
from .job import Job
from .layout import Layout
from .points import Points, make_points
from .problem import Swept, check_addresses
from .rows import Row
from .store import Store, shapes_of
from .table import Table
from .watch import LOG, Watch

VERBS = ("fixed_point", "convergence_rate", "timescales", "small_init_path", "solve_dmft", "simulate", "check")
"""Verbs that a word given in place of a verb may mean."""
BLOCKS = 16
"""Fewest blocks of a sweep that is long enough: so that a few workers share it evenly, and a kill costs little."""
LARGEST_BLOCK, LARGEST_BATCH = 64, 1024
"""Most points of a block: solved one by one, and batched."""
TRIES = 64
"""Points that are tried for a first row: it says what a row looks like."""


def sweep(
    verb: Callable[..., Any],
    model: Model,
    task: Task | Dataset,
    training: Training | None = None,
    *,
    over: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    store: str | Path | None = None,
    executor: Any = None,
    shard: tuple[int, int] | str | None = None,
    block_size: int | None = None,
    retry_failed: bool = False,
    progress: Progress = None,
    **options: Any,
) -> Table:
    """Evaluate a verb at many points.

    Work is done in blocks of points; a block's data are written first, then its mark. Stop it, kill it, or lose the
    machine: the same call again computes what is missing, and no more. Points that fail are kept with their message.

    Parameters
    ----------
    verb
        `fixed_point`, `convergence_rate`, `timescales`, `solve_dmft`, `simulate`, or a function of your own: called as
        ``verb(model, task, training, **options)`` (without the training if none is given), it returns a number or a
        dictionary of numbers and arrays. Closed forms run as batches in one compiled call, simulations that differ in
        their models alone on shared data.
    model, task, training
        The problem at which the sweep stands.
    over
        Axes, address -> values, for every combination: ``{"model.init_scale": [0.1, 1.0], "task.target.probability":
        [0.1, 0.2], "key": range(5)}``. An address is a noun, a field of it, or an option of the verb. Or a list of
        points, each a dictionary of addresses.
    store
        Directory of the zarr store, made if there is none, resumed if it is of the same sweep. A temporary one, which
        goes with the table, unless given.
    executor
        Who runs the blocks: a Dask client, an executor of concurrent.futures, or this process. Workers write to the
        store themselves, so they must see its directory.
    shard
        ``(i, n)`` or ``"i/n"``, counted from 0: this call computes every n-th block from the i-th on, for job arrays.
    block_size
        Points in a block: the unit of work, of writing and of what a kill costs.
    retry_failed
        Whether to compute failed points of an earlier call again, and nothing else of their blocks.
    progress
        None: a bar after two seconds, if somebody watches in a terminal or a notebook; True: a bar; False: no bar. Or a
        function ``(fraction, message)`` that ends the work by returning True. The log ``flowlimit.sweep`` has a
        line every ten seconds in any case.
    **options
        Keyword arguments of the verb, the same for all points; its ``key`` too, so that numbers are smooth along an
        axis. Make ``key`` an axis for independent ones.

    Returns
    -------
    Table

    Examples
    --------
    >>> import flowlimit as fl
    >>> task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    >>> axes = {"model.init_scale": [0.1, 0.3, 1.0], "task.aspect_ratio": [0.5, 2.0]}
    >>> table = fl.sweep(fl.fixed_point, fl.DiagonalLinear(0.3), task, over=axes)
    >>> table["test_error"].sel({"task.aspect_ratio": 0.5}).values.round(6).tolist()
    [0.045405, 0.054195, 0.06874]
    """
    if not callable(verb):
        close = hint(verb, VERBS, NAMES, before="fl.") if isinstance(verb, str) else ""
        raise TypeError(f"verb: given {shown(verb)}, needs a verb or a function, e.g. fl.convergence_rate{close}")
    if store is not None and (not isinstance(store, str | Path) or "\0" in str(store)):
        raise TypeError(f"store: given {shown(store)}, needs a path, e.g. store='sweep.zarr'")
    check_executor(executor)
    mine = _shard(shard)
    nouns = {"model": model, "task": task} | ({} if training is None else {"training": training})
    problem, points = Swept(verb, nouns, options), make_points(over)
    check_addresses(problem, points)
    # From here on, since the first point is computed to know what a row is. Ctrl-C ends at once: the store holds all
    # blocks that are done, and a part of a block is worth nothing.
    with reporter(progress, "sweep", heed=False) as report:
        path = Path(tempfile.mkdtemp(prefix="flowlimit-")) / "sweep.zarr" if store is None else Path(store)
        table = Table(path)
        if store is None:  # it goes with the table, also if nothing comes of it
            weakref.finalize(table, shutil.rmtree, path.parent, ignore_errors=True)
        _prepare(path, problem, points, block_size, resumable=store is not None)
        _fill(Store(path), problem, points, executor, mine, retry_failed, report)
    return table


def _shard(shard: tuple[int, int] | str | None) -> tuple[int, int]:
    if shard is None:
        return 0, 1
    try:
        own, of = map(int, shard.split("/")) if isinstance(shard, str) else shard
    except (ValueError, TypeError):
        own, of = -1, 0
    if not 0 <= own < of:
        raise ValueError(f"shard: given {shown(shard)}, needs one of n counted from 0, e.g. shard='0/8' to shard='7/8'")
    return own, of


def _prepare(path: Path, problem: Swept, points: Points, block_size: int | None, *, resumable: bool) -> None:
    """Make the store, or see that it is one of this sweep."""
    description = fingerprint(problem, points, resumable=resumable)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        create(path, _layout(problem, points, block_size), points, description)
    check_store(path)
    store = Store(path)
    differ = differences(store.attributes["problem"], description)
    if block_size not in (None, store.layout.block_size):
        differ.append(f"block_size: the store has {store.layout.block_size}, given {block_size}")
    if differ:
        shown = "; ".join(differ[:3])
        raise FileExistsError(
            f"{path} holds another sweep: {shown}. Give another store=, or read this one by fl.open_sweep"
        )


def _layout(problem: Swept, points: Points, block_size: int | None) -> Layout:
    first = _first_row(problem, points).values
    # Times are a coordinate if the same for all points.
    steady = not any(name.split(".")[0] in ("training", "save_at") for name in points.names)
    shared = {"time": np.asarray(first["time"]).tolist()} if steady and "time" in first else {}
    shapes = shapes_of({name: value for name, value in first.items() if name not in shared})
    taken = sorted(set(shapes) & {"result", "marks", "point", *points.names})
    if taken or not shapes:
        given = ", ".join(taken) or "none"
        raise ValueError(f"the verb's numbers: given {given}; needs some, not named result, marks, point or as an axis")
    return Layout(len(points), _block_size(problem, points, block_size), shapes, shared)


def _block_size(problem: Swept, points: Points, block_size: int | None) -> int:
    if block_size is not None:
        if not isinstance(block_size, int) or isinstance(block_size, bool) or block_size < 1:
            raise ValueError(f"block_size: given {shown(block_size)}, needs an int of at least 1, e.g. block_size=64")
        return block_size
    most = LARGEST_BATCH if is_batched(problem, points) else LARGEST_BLOCK
    least = LARGEST_BLOCK if is_batched(problem, points) else 1
    return max(least, min(most, math.ceil(len(points) / BLOCKS)))


def _first_row(problem: Swept, points: Points) -> Row:
    row = None
    for i in range(min(TRIES, len(points))):
        row = evaluate(problem, points, points.columns(np.array([i])))[0]
        if row.values and all(map(np.size, row.values.values())):  # one that ran out of time has empty curves
            return row
    assert row is not None
    raise FlowlimitError(f"the first {min(TRIES, len(points))} points all failed; the last: {row.outcome.message}")


def _fill(
    store: Store,
    problem: Swept,
    points: Points,
    executor: Any,
    shard: tuple[int, int],
    retry_failed: bool,
    report: Callable[[float, str], Any],
) -> None:
    jobs, watch = _jobs(store, problem, points, shard, retry_failed)
    for done in run_all(jobs, executor):
        watch.add(done)
        if report(watch.fraction, str(watch)):
            LOG.info("stopped on request at %s", watch)
            return


def _jobs(
    store: Store, problem: Swept, points: Points, shard: tuple[int, int], retry_failed: bool
) -> tuple[list[Job], Watch]:
    """Return what is left to do of a shard, and a watch that knows what is not."""
    done, layout = store.done(), store.layout
    jobs = []
    mine = range(shard[0], layout.blocks, shard[1])
    for block in mine:
        failed = tuple(int(place) for place in done[block]["failed"]) if block in done else ()
        if block not in done or (retry_failed and failed):
            own = _part(points, layout.index(block))
            jobs.append(Job(store.path.resolve(), problem, own, block, failed if block in done else None))
    total = sum(len(layout.index(block)) for block in mine)
    return jobs, Watch(total, total - sum(len(job.points if job.retry is None else job.retry) for job in jobs))


def _part(points: Points, index: np.ndarray) -> Points:
    columns = points.columns(index)
    return Points(tuple(columns), tuple(map(tuple, columns.values())), grid=False)
