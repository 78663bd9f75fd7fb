"""The host's part of a solve: a pilot, then replicas on its panels, then whatever the error bars ask for.

More replicas if the spread is too large, more paths (a level up) if their common bias is or if the replicas needed
become too many, shorter panels if the time error is. It ends when the requested accuracy is met, or when the time or
memory limit or the last level is reached: then the outcome says what was missed.
"""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..numerics.blocks import Edges
from ..results import Code, Outcome, PathSample
from .errors import Replicas, Shortfall, judge, student_factor
from .grid import Grid, Saves, make_grid, room_for
from .march import march
from .measure import Solution, curves_of, read_paths, read_solution, time_errors
from .paths import Counts, Rotation, principal_rotation
from .pilot import BlowUpError, RoomError, choose_panels
from .plan import ITERATION_PART, Plan

REPLICAS, MOST_REPLICAS, FIRST_LOOK, LAST_LEVEL = 8, 24, 4, 3
HOPELESS = 2.0
"""Excess over the most replicas at which a first look is enough to go to the next level."""
PANEL_PART = 0.1
"""Part of the requested accuracy that the panels' relative tails may have in the pilot."""
SPLITS = 6
"""How often panels may be split after the pilot."""

OVERFLOW = 1e60
"""What is larger has diverged: its square's spread would overflow."""

Report = Callable[[float, str], Any]


@dataclass(frozen=True)
class Solved:
    """What a solve found: its grid, its replicas with their solutions, some paths, and how it ended."""

    grid: Grid | None
    replicas: Replicas
    solutions: list[Solution]
    sample: PathSample | None
    outcome: Outcome
    stats: dict[str, Any]


class Done(NamedTuple):
    """One replica: its solution, its paths if they are kept, and the first block that did not settle, if any."""

    solution: Solution
    sample: PathSample | None
    unsettled: int | None


class Deadline:
    """A time limit in seconds, or none."""

    def __init__(self, limit: float | None) -> None:
        self.began, self.limit = time.perf_counter(), limit

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.began

    def allows(self, seconds: float = 0.0) -> bool:
        """Whether that many seconds more are within the limit."""
        return self.limit is None or self.spent + seconds <= self.limit


@dataclass(frozen=True)
class Work:
    """A solve in progress: the grid and its rotation, the level, and what its replicas gave."""

    grid: Grid
    rotation: Rotation
    level: int
    counts: Counts
    reference: Solution | None  # iterations start from these
    replicas: Replicas
    solutions: list[Solution]
    sample: PathSample | None = None
    seconds: float = 0.0  # of one replica
    splits: int = 0


def solve(plan: Plan, saves: Saves, start: tuple[Edges, int] | None, limit: float | None, report: Report) -> Solved:
    """Solve a plan; ``start`` gives panels to begin with and a level."""
    deadline = Deadline(limit)
    known, level = (np.zeros(1), _first_level(plan.rtol)) if start is None else start
    try:
        grid, solution = _pilot(plan, saves, known, deadline, report)
    except InterruptedError:
        code = Code.TIMEOUT if not deadline.allows() else Code.STOPPED
        return Solved(None, Replicas(), [], None, Outcome(code, "ended while panels were being chosen"), {})
    except BlowUpError as error:
        return Solved(None, Replicas(), [], None, Outcome(Code.DIVERGED, f"{error}; is its limit finite there?"), {})
    except MemoryError as error:
        return Solved(None, Replicas(), [], None, Outcome(Code.MEMORY, str(error)), {})
    counts = plan.counts(level, grid.nodes) or plan.counts(0, grid.nodes)
    assert counts is not None  # the pilot ran with the counts of level 0
    work = Work(grid, principal_rotation(solution.L, grid.weights), level, counts, solution, Replicas(), [])
    while True:
        work, outcome = _improve(plan, work, deadline, report)
        if outcome is not None:
            return _finish(plan, work, outcome, deadline)


def _first_level(rtol: float) -> int:
    return 0 if rtol > 3e-3 else 1


def _pilot(plan: Plan, saves: Saves, known: Edges, deadline: Deadline, report: Report) -> tuple[Grid, Solution]:
    clock = plan.site.flow.clock
    if plan.explicit:
        grid = make_grid(clock, None, saves)
        problem = plan.problem(grid.nodes, _pilot_counts(plan, grid.nodes), 0)
        return grid, read_solution(march(problem, grid.blocks, plan.measure.count), grid.nodes)
    room = room_for(1)
    watch = lambda fraction, message: report(0.3 * fraction, message) or not deadline.allows()
    while True:
        problem = plan.problem(room, _pilot_counts(plan, room), 0)
        try:
            horizon = float(clock.horizon)  # pyright: ignore[reportAttributeAccessIssue]
            edges, solution = choose_panels(problem, horizon, PANEL_PART * plan.rtol, known, plan.measure.count, watch)
            return make_grid(clock, edges, saves), solution
        except RoomError as full:
            known, room = full.edges, room_for(room + 1)


def _pilot_counts(plan: Plan, nodes: int) -> Counts:
    counts = plan.counts(0, nodes)
    if counts is None:
        needed = plan.bytes(Counts(512, 32), nodes) / 2**30
        raise MemoryError(
            f"{nodes} nodes need {needed:.1f} GiB, the limit is {plan.memory_limit / 2**30:.1f}; raise memory_limit=, "
            f"or take fewer steps or a larger rtol"
        )
    return counts


def _improve(plan: Plan, work: Work, deadline: Deadline, report: Report) -> tuple[Work, Outcome | None]:
    """Do what the error bars ask for, once; an outcome ends the solve."""
    if not work.replicas.whole:
        work, ended = _run_replicas(plan, work, FIRST_LOOK, deadline, report)
        if ended is not None:
            return work, ended
        short = judge(work.replicas, plan.rtol)
        spread = short.statistical / student_factor(FIRST_LOOK)
        if spread**2 * FIRST_LOOK > HOPELESS * MOST_REPLICAS and short.time < 1.0:
            return _next_level(plan, work, short, deadline)
    target = max(REPLICAS, _replicas_needed(plan, work))
    work, ended = _run_replicas(plan, work, target, deadline, report)
    if ended is not None:
        return work, ended
    short = judge(work.replicas, plan.rtol)
    if short.total <= 1.0:
        return work, Outcome()
    if short.time > 0.7 and work.splits < SPLITS and not plan.explicit:
        return _split(plan, work, _coarse_panels(plan, work)), None
    if short.bias <= 0.9 and _replicas_needed(plan, work) <= MOST_REPLICAS and len(work.replicas.whole) < MOST_REPLICAS:
        return work, None
    return _next_level(plan, work, short, deadline)


def _replicas_needed(plan: Plan, work: Work) -> int:
    """Return how many replicas would bring the spread down to what the bias and the time error leave."""
    done = len(work.replicas.whole)
    if done < REPLICAS:
        return REPLICAS
    short = judge(work.replicas, plan.rtol)
    room = max(1.0 - short.bias**2 - short.time**2, 0.1)
    return int(np.ceil(1.1 * done * short.statistical**2 / room))


def _run_replicas(
    plan: Plan, work: Work, target: int, deadline: Deadline, report: Report
) -> tuple[Work, Outcome | None]:
    """Run replicas and as many half-path ones (eight at most) until there are ``target``."""
    workers = max(1, min(4, os.cpu_count() or 1))
    target = min(target, MOST_REPLICAS)
    while len(work.replicas.whole) < target:
        first = len(work.replicas.whole)
        batch = range(first, min(first + max(workers, 2), target))
        if not deadline.allows(work.seconds if first >= 3 else 0.0):
            return work, _late(plan, work, deadline)
        # The level below serves as the solves with fewer paths, if there is one.
        halves = [(r, True) for r in batch if r < REPLICAS and work.replicas.coarser is None]
        jobs = [(r, False) for r in batch] + halves
        began = time.perf_counter()
        with ThreadPoolExecutor(workers) as pool:
            done = list(pool.map(partial(_replica, plan, work), *zip(*jobs, strict=True)))
        failed = [one.unsettled for one in done if one.unsettled is not None]
        if failed:
            if work.splits >= SPLITS or plan.explicit:
                return work, _failed(plan, work, failed)
            work = _split(plan, work, np.unique(failed))
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
    solution = read_solution(rows, work.grid.nodes)
    bounded = lambda x: np.abs(np.nan_to_num(x, nan=np.inf)).max(axis=1) < OVERFLOW
    settled = bounded(solution.L) & bounded(solution.averages)
    if not plan.explicit:
        disagreement = np.asarray(rows.disagreement)[: work.grid.nodes]
        settled &= disagreement <= 100.0 * ITERATION_PART * plan.rtol
    bad = np.flatnonzero(~settled)
    sample = read_paths(work.grid, problem, rows, solution) if replica == 0 and not half else None
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
    )
    solutions = [*work.solutions, *(done[i].solution for i in whole)]
    sample = work.sample if work.sample is not None else done[whole[0]].sample
    return replace(work, replicas=replicas, solutions=solutions, sample=sample, seconds=seconds / len(whole))


def _coarse_panels(plan: Plan, work: Work) -> np.ndarray:
    """Return the panels whose time error is too large."""
    coarse: set[int] = set()
    for name in ("train_error", "test_error"):
        mean = work.replicas.stack(name).mean(axis=0)
        error = np.mean([errors[name] for errors in work.replicas.time_errors], axis=0)
        allowed = 0.35 * plan.rtol * np.maximum(np.abs(mean), 1e-6 * abs(mean[0]))
        assert work.grid.edges is not None
        panel = np.clip(np.searchsorted(work.grid.edges, work.grid.saves, side="left") - 1, 0, len(work.grid.edges) - 2)
        coarse |= set(panel[error > 0.5 * allowed].tolist())
    return np.array(sorted(coarse), dtype=int)


def _split(plan: Plan, work: Work, which: np.ndarray) -> Work:
    """Halve panels and begin the level anew, with the modes found so far."""
    assert work.grid.edges is not None
    middles = (work.grid.edges[which] + work.grid.edges[which + 1]) / 2.0
    edges = np.sort(np.r_[work.grid.edges, middles])
    grid = make_grid(plan.site.flow.clock, edges, work.grid.saves)
    rotation = _carried_rotation(work, grid)
    counts = plan.counts(work.level, grid.nodes) or work.counts
    return replace(
        work,
        grid=grid,
        rotation=rotation,
        counts=counts,
        reference=None,
        replicas=Replicas(),
        solutions=[],
        sample=None,
        splits=work.splits + 1,
    )


def _carried_rotation(work: Work, grid: Grid) -> Rotation:
    """Return the modes on a new grid, from the modes or a replica's root on the old one."""
    if work.solutions:
        return principal_rotation(grid_values(work.grid, grid, work.solutions[-1].L), grid.weights)
    return np.eye(grid.nodes)


def grid_values(old: Grid, new: Grid, rows: np.ndarray) -> np.ndarray:
    """Interpolate rows from one grid's nodes to another's."""
    return old.interpolate(new.times) @ rows


def _next_level(plan: Plan, work: Work, short: Shortfall, deadline: Deadline) -> tuple[Work, Outcome | None]:
    missed = _missed(plan, short)
    counts = plan.counts(work.level + 1, work.grid.nodes) if work.level < LAST_LEVEL else None
    if counts is None:
        reason = "at the last level of paths" if work.level >= LAST_LEVEL else "for want of memory (memory_limit=)"
        return work, Outcome(Code.TOLERANCE, f"{missed}, {reason}")
    if not deadline.allows(REPLICAS * 4.0 * work.seconds):
        return work, Outcome(Code.TIMEOUT, f"{missed}; more paths would exceed the {deadline.limit:g} s allowed")
    rotation = principal_rotation(work.solutions[-1].L, work.grid.weights)
    return replace(
        work,
        level=work.level + 1,
        counts=counts,
        rotation=rotation,
        reference=work.solutions[-1],
        replicas=Replicas(coarser=work.replicas),
        solutions=[],
        sample=None,
    ), None


def _missed(plan: Plan, short: Shortfall) -> str:
    parts = {"spread": short.statistical, "bias": short.bias, "time error": short.time}
    worst = max(parts, key=lambda name: parts[name])
    return f"accuracy {plan.rtol * short.total:.2g} instead of {plan.rtol:g} at worst ({worst})"


def _late(plan: Plan, work: Work, deadline: Deadline) -> Outcome:
    if len(work.replicas.whole) < 2:
        return Outcome(Code.TIMEOUT, f"no error bars within the {deadline.limit:g} s allowed")
    short = judge(work.replicas, plan.rtol)
    if short.total <= 1.0:
        return Outcome()
    missed = _missed(plan, short)
    return Outcome(Code.TIMEOUT, f"{missed} when the {deadline.limit:g} s allowed were over")


def _failed(plan: Plan, work: Work, blocks: list[int]) -> Outcome:
    when = float(np.asarray(work.grid.blocks.times)[min(blocks), 0])
    if plan.explicit:
        fix = "take a smaller step_size, or truncation="
        return Outcome(Code.DIVERGED, f"gradient descent ceases to be finite by time {when:g}; {fix}")
    return Outcome(Code.DIVERGED, f"the iteration does not settle at time {when:g}, however short the panel")


def _finish(plan: Plan, work: Work, outcome: Outcome, deadline: Deadline) -> Solved:
    stats = {
        "seconds": deadline.spent,
        "rtol": plan.rtol,
        "nodes": work.grid.nodes,
        "level": work.level,
        "paths": work.counts.paths,
        "response_paths": work.counts.few,
        "replicas": len(work.replicas.whole),
        "half_replicas": len(work.replicas.half),
        "replica_bytes": plan.bytes(work.counts, work.grid.nodes),
        "edges": None if work.grid.edges is None else work.grid.edges.tolist(),
    }
    return Solved(work.grid, work.replicas, work.solutions, work.sample, outcome, stats)
