"""Replicas: whole solves with independent paths, several at once, and the same with half the paths."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ...numerics.deadline import Deadline
from ...numerics.precision import own_settings
from ...results import PathSample
from ..engine.march import march
from ..readout.curves import curves_of, starts_of, time_errors
from ..readout.solution import Solution, read_paths, read_solution
from .draws import make_replica
from .errors import Replicas
from .plan import Plan
from .work import Work

OVERFLOW = 1e60
"""What is larger has diverged: its square's spread would overflow."""


class Done(NamedTuple):
    """One replica: its solution, its paths if they are kept, and the first block that did not settle, if any."""

    solution: Solution
    sample: PathSample | None
    unsettled: int | None


def run_batch(plan: Plan, work: Work, target: int, deadline: Deadline) -> Work:
    """Run some replicas towards ``target``, and the same with half the paths (of those of the first look).

    If one does not settle, the work comes back without them and says which blocks did not. Raises `OutOfTimeError` if
    the deadline passes: replicas of an unfinished batch are dropped, since they have no error bars.
    """
    jobs = _jobs(plan, work, target)
    began = time.perf_counter()
    with ThreadPoolExecutor(plan.workers(work.counts, work.grid.nodes)) as pool:
        done = list(pool.map(partial(_solve, plan, work, deadline), *zip(*jobs, strict=True)))
    unsettled = tuple(one.unsettled for one in done if one.unsettled is not None)
    if unsettled:
        return replace(work, target=target, unsettled=unsettled)
    return replace(_add(plan, work, jobs, done, time.perf_counter() - began), target=target)


def batch_seconds(plan: Plan, work: Work, target: int) -> float:
    """Return how long the next batch takes, as far as is known."""
    return len(_jobs(plan, work, target)) * work.seconds


def _jobs(plan: Plan, work: Work, target: int) -> list[tuple[int, bool]]:
    """Return the next replicas by number, each with whether it has half the paths."""
    first = len(work.replicas.whole)
    batch = range(first, min(first + plan.settings.batch, target))  # whatever the cores: curves are looked at then
    # The level below serves as the solves with fewer paths, if there is one; it does not tell the error of strata.
    alone = work.replicas.coarser is None or plan.rough_law is not None
    halves = [(number, True) for number in batch if number < plan.settings.first_look and alone]
    return [(number, False) for number in batch] + halves


@own_settings()  # settings belong to a thread
def _solve(plan: Plan, work: Work, deadline: Deadline, number: int, half: bool) -> Done:
    """Solve one replica, in a separate thread."""
    deadline.check()
    replica = make_replica(
        plan, work.grid.nodes, work.counts, number, rotation=work.rotation, reference=work.reference, half=half
    )
    rows = march(replica, work.grid.blocks, plan.measure.count, deadline)
    solution = read_solution(replica, rows, work.grid.nodes)
    bounded = lambda x: np.abs(np.nan_to_num(x, nan=np.inf)).reshape(work.grid.nodes, -1).max(axis=1) < OVERFLOW
    settled = bounded(solution.averages) & (bounded(solution.L) if solution.whole else True)
    if not plan.explicit:
        disagreement = np.asarray(rows.disagreement)[: work.grid.nodes]
        settled &= disagreement <= plan.panels.settled_factor * plan.settings.iteration_part * plan.rtol
    bad = np.flatnonzero(~settled)
    wanted = number == 0 and not half and not len(bad) and solution.whole
    sample = read_paths(work.grid, replica, rows, solution) if wanted else None
    return Done(solution, sample, int(bad[0] // work.grid.order) if len(bad) else None)


def _add(plan: Plan, work: Work, jobs: list[tuple[int, bool]], done: list[Done], seconds: float) -> Work:
    old = work.replicas
    curves = [curves_of(plan.measure, work.grid, one.solution) for one in done]
    whole = [i for i, (_, half) in enumerate(jobs) if not half]
    halves = [i for i, (_, half) in enumerate(jobs) if half]
    replicas = Replicas(
        [*old.whole, *(curves[i] for i in whole)],
        [*old.half, *(curves[i] for i in halves)],
        [*old.time_errors, *(time_errors(plan.measure, work.grid, done[i].solution) for i in whole)],
        old.coarser,
        old.judged,
        [*old.starts, *(starts_of(plan.measure, work.grid, done[i].solution) for i in whole)],
    )
    solutions = [*work.solutions, *(done[i].solution for i in whole)]
    sample = work.sample if work.sample is not None else done[whole[0]].sample
    return replace(work, replicas=replicas, solutions=solutions, sample=sample, seconds=seconds / len(jobs))
