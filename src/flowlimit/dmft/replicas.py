"""Replicas: whole solves with their own paths, several at once, and the same with half the paths."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ..numerics.devices import usable_cores
from ..results import Code, Outcome, PathSample
from .errors import Replicas
from .march import march
from .measure import Solution, curves_of, read_paths, read_solution, starts_of, time_errors
from .plan import ITERATION_PART, Plan
from .work import Deadline, Report, Work, failed, late, split_panels

REPLICAS, MOST_REPLICAS = 8, 24
SPLITS = 6
"""How often panels may be split after the pilot."""
OVERFLOW = 1e60
"""What is larger has diverged: its square's spread would overflow."""


class Done(NamedTuple):
    """One replica: its solution, its paths if they are kept, and the first block that did not settle, if any."""

    solution: Solution
    sample: PathSample | None
    unsettled: int | None


def run_replicas(
    plan: Plan, work: Work, target: int, deadline: Deadline, report: Report
) -> tuple[Work, Outcome | None]:
    """Run replicas and as many half-path ones (eight at most) until there are ``target``."""
    # Programs of several devices wait for each other: two at once could wait for ever.
    workers = 1 if plan.mesh is not None else min(4, usable_cores())
    target = min(target, MOST_REPLICAS)
    while len(work.replicas.whole) < target:
        first = len(work.replicas.whole)
        batch = range(first, min(first + max(workers, 2), target))
        # The level below serves as the solves with fewer paths, if there is one.
        halves = [(r, True) for r in batch if r < REPLICAS and work.replicas.coarser is None]
        jobs = [(r, False) for r in batch] + halves
        if not deadline.allows(len(jobs) * work.seconds):
            return work, late(plan, work, deadline)
        began = time.perf_counter()
        with ThreadPoolExecutor(workers) as pool:
            done = list(pool.map(partial(_replica, plan, work), *zip(*jobs, strict=True)))
        unsettled = [one.unsettled for one in done if one.unsettled is not None]
        if unsettled:
            if work.splits >= SPLITS or plan.explicit:
                return work, failed(plan, work, unsettled)
            work = split_panels(plan, work, np.unique(unsettled))
            continue
        work = _add(plan, work, jobs, done, time.perf_counter() - began)
        name = f"level {work.level}, replica {len(work.replicas.whole)} of {target}"
        if report(0.3 + 0.7 * min(1.0, len(work.replicas.whole) / target), name):
            return work, Outcome(Code.STOPPED, f"stopped by progress() at {name}")
    return work, None


def _replica(plan: Plan, work: Work, replica: int, half: bool) -> Done:
    """Solve one replica."""
    problem = plan.problem(
        work.grid.nodes, work.counts, replica, rotation=work.rotation, reference=work.reference, half=half
    )
    rows = march(problem, work.grid.blocks, plan.measure.count)
    solution = read_solution(problem, rows, work.grid.nodes)
    bounded = lambda x: np.abs(np.nan_to_num(x, nan=np.inf)).reshape(work.grid.nodes, -1).max(axis=1) < OVERFLOW
    settled = bounded(solution.L) & bounded(solution.averages)
    if not plan.explicit:
        disagreement = np.asarray(rows.disagreement)[: work.grid.nodes]
        settled &= disagreement <= 100.0 * ITERATION_PART * plan.rtol
    bad = np.flatnonzero(~settled)
    wanted = replica == 0 and not half and not len(bad)
    sample = read_paths(work.grid, problem, rows, solution) if wanted else None
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
