"""Replicas: whole solves with independent paths, several at once, and the same with parts of the paths."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...numerics.deadline import Deadline
from ...numerics.precision import own_settings
from ...results import PathSample
from ..engine.march import march
from ..readout.curves import Values, curves_of, starts_of, time_errors
from ..readout.solution import Solution, read_paths, read_solution
from ..sampling.modes import mean_of
from ..sampling.paths import Part
from .draws import make_replica
from .moves import PAIR
from .plan import Plan
from .work import Work

LOOK = 0.2
"""Seconds between looks at the user's stop while replicas run."""
OVERFLOW = 1e60
"""What is larger has diverged: its square's spread would overflow."""


Job = tuple[int, Part | None]
"""A replica's number, and which part of its paths if not all."""
QUARTERS = 4
"""Parts of a level that fit into the arrays of the level below."""


class Done(NamedTuple):
    """One replica: its solution, its paths if they are kept, and the first block that did not settle, if any."""

    solution: Solution
    sample: PathSample | None
    unsettled: int | None


def more_replicas(plan: Plan, work: Work, target: int) -> list[Job]:
    """Return the next replicas towards ``target``."""
    first = len(work.replicas.whole)
    size = PAIR if work.borrowed and not first else plan.settings.batch  # whatever the cores: curves are looked at then
    return [(number, None) for number in range(first, min(first + size, target))]


def all_parts(plan: Plan, work: Work, count: int) -> list[Job]:
    """Return the next of the first ``count`` replicas with each part of their paths.

    Parts are quarters, in arrays of the level below; where it did not settle or there is none, halves, in arrays of
    the same level, for which there is a program: they cost as much as the whole.
    """
    below = None if work.thin or work.level < 1 else plan.counts(work.level - 1, work.grid.nodes)
    fits = below is not None and below.paths * QUARTERS == work.counts.paths and below.few * QUARTERS >= work.counts.few
    of, room = (QUARTERS, below) if below is not None and fits else (2, work.counts)
    return [(number, Part(i, of, room)) for number in range(len(work.replicas.parts), count) for i in range(of)]


def run_batch(plan: Plan, work: Work, jobs: list[Job], deadline: Deadline, look: Callable[[], None]) -> Work:
    """Run some replicas, or some with parts of their paths.

    If one does not settle, the work comes back without them and says which blocks did not. Raises `OutOfTimeError` if
    the deadline passes, and what ``look`` raises, which is called again and again meanwhile: replicas of an unfinished
    batch are dropped, since they have no error bars.
    """
    began = time.perf_counter()
    with ThreadPoolExecutor(plan.workers(work.counts, work.grid.nodes)) as pool:
        starts = _starts(work, jobs)
        futures = [
            pool.submit(_solve, plan, work, deadline, *job, start) for job, start in zip(jobs, starts, strict=True)
        ]
        try:
            _watch(futures, look)
            done = [future.result() for future in futures]
        except BaseException:
            deadline.cut()  # else the pool waits for all of them
            raise
    unsettled = tuple(one.unsettled for one in done if one.unsettled is not None)
    if unsettled:
        return replace(work, unsettled=unsettled)
    return _add(plan, work, jobs, done, time.perf_counter() - began)


def _watch(futures: list[Future[Done]], look: Callable[[], None]) -> None:
    """Look again and again until all are done."""
    while wait(futures, timeout=LOOK).not_done:
        look()


def _starts(work: Work, jobs: list[Job]) -> list[Solution | None]:
    """Return what the iterations of each job begin with, where that is nearer than the operators of a neighbour.

    For a part of a replica's paths it is the replica, for other replicas the mean of those that there are. (What a
    pilot found of this problem is as near as these.)
    """
    found = work.solutions if work.borrowed else []
    mean = mean_of(found) if len(found) > 1 else None
    return [mean if part is None or number >= len(found) else found[number] for number, part in jobs]


@own_settings()  # settings belong to a thread
def _solve(plan: Plan, work: Work, deadline: Deadline, number: int, part: Part | None, start: Solution | None) -> Done:
    """Solve one replica, in a separate thread."""
    deadline.check()
    replica = make_replica(
        plan,
        work.grid.nodes,
        work.counts,
        number,
        rotation=work.rotation,
        reference=work.reference,
        nearer=start,
        part=part,
    )
    rows = march(replica, work.grid.blocks, plan.measure.count, deadline, work.seconds)
    solution = read_solution(replica, rows, work.grid.nodes)
    bounded = lambda x: np.abs(np.nan_to_num(x, nan=np.inf)).reshape(work.grid.nodes, -1).max(axis=1) < OVERFLOW
    settled = bounded(solution.averages) & (bounded(solution.L) if solution.whole else True)
    if not plan.explicit:
        disagreement = np.asarray(rows.disagreement)[: work.grid.nodes]
        settled &= disagreement <= plan.panels.settled_factor * plan.settings.iteration_part * plan.rtol
    bad = np.flatnonzero(~settled)
    wanted = number == 0 and part is None and not len(bad) and solution.whole
    sample = read_paths(work.grid, replica, rows, solution) if wanted else None
    return Done(solution, sample, int(bad[0] // work.grid.order) if len(bad) else None)


def _add(plan: Plan, work: Work, jobs: list[Job], done: list[Done], seconds: float) -> Work:
    old, each = work.replicas, seconds / len(jobs)
    curves = [curves_of(plan.measure, work.grid, one.solution) for one in done]
    whole = [i for i, (_, part) in enumerate(jobs) if part is None]
    parts: dict[int, list[Values]] = {}
    for (number, part), found in zip(jobs, curves, strict=True):
        if part is not None:
            parts.setdefault(number, []).append(found)
    replicas = replace(
        old,
        whole=[*old.whole, *(curves[i] for i in whole)],
        parts=[*old.parts, *map(_average, parts.values())],
        of=next((part.of for _, part in jobs if part is not None), old.of),
        time_errors=[*old.time_errors, *(time_errors(plan.measure, work.grid, done[i].solution) for i in whole)],
        starts=[*old.starts, *(starts_of(plan.measure, work.grid, done[i].solution) for i in whole)],
    )
    solutions = [*work.solutions, *(done[i].solution for i in whole)]
    sample = next((one.sample for one in done if one.sample is not None), work.sample)
    return replace(work, replicas=replicas, solutions=solutions, sample=sample, seconds=each if whole else work.seconds)


def _average(each: list[Values]) -> Values:
    return {name: np.mean([values[name] for values in each], axis=0) for name in each[0]}
