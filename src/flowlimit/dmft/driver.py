"""The host's part of a solve: a pilot, then replicas on its panels, then whatever the error bars ask for.

More replicas if the spread is too large, more paths (a level up) if their common bias is or if the replicas needed
become too many, shorter panels if the time error is. It ends when the requested accuracy is met, or when the time or
memory limit or the last level is reached: then the outcome says what was missed.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..numerics.blocks import Edges
from ..numerics.devices import any_process
from ..results import Code, Outcome, PathSample
from .errors import Replicas, Shortfall, judge, student_factor
from .grid import Grid, Saves, make_grid
from .measure import Solution
from .modes import modes_of
from .panels.pilot import BlowUpError, RoomError, choose_panels
from .paths import Counts
from .plan import FEWEST_FEW, FIRST_PATHS, LEVEL_FACTOR, Plan
from .replicas import MOST_REPLICAS, REPLICAS, SPLITS, run_replicas
from .work import Deadline, Report, Work, coarse_panels, missed, split_panels

QUICK_LOOK, FIRST_LOOK, LAST_LEVEL = 2, 4, 3
ROUGH = 0.2
"""Accuracy from which on a quarter of the first level's paths is enough to begin with: an answer within a second."""
LEVEL_COST = LEVEL_FACTOR
"""Seconds of a replica over those of the level below, about."""
HOPELESS = 2.0
"""Excess over the most replicas, or over the bias allowed, at which a first look is enough for the next level."""
PANEL_PART = 0.1
"""Part of the requested accuracy that the panels' relative tails may have in the pilot."""


@dataclass(frozen=True)
class Solved:
    """What a solve found: its grid, its replicas with their solutions, some paths, and how it ended."""

    grid: Grid | None
    replicas: Replicas
    solutions: list[Solution]
    sample: PathSample | None
    outcome: Outcome
    stats: dict[str, Any]


def solve(plan: Plan, saves: Saves, start: tuple[Edges, int] | None, limit: float | None, report: Report) -> Solved:
    """Solve a plan; ``start`` gives panels to begin with and a level."""
    deadline = Deadline(limit, plan.mesh)
    ask, report = report, lambda fraction, message: any_process(plan.mesh, bool(ask(fraction, message)))
    known, level = (np.zeros(1), _first_level(plan)) if start is None else start
    try:
        if plan.explicit:
            first, outcome = _quick_look(plan, saves, deadline, report)
            if outcome is not None:
                return _finish(plan, first, outcome, deadline)
            grid, solution = first.grid, first.solutions[0]
        else:
            grid, solution = _pilot(plan, saves, known, deadline, report)
    except InterruptedError:
        code = Code.TIMEOUT if not deadline.allows() else Code.STOPPED
        return Solved(None, Replicas(), [], None, Outcome(code, "ended while panels were being chosen"), {})
    except BlowUpError as error:
        return Solved(None, Replicas(), [], None, Outcome(Code.DIVERGED, f"{error}; is its limit finite there?"), {})
    except MemoryError as error:
        return Solved(None, Replicas(), [], None, Outcome(Code.MEMORY, str(error)), {})
    counts = plan.counts(level, grid.nodes) or plan.counts(min(level, 0), grid.nodes)
    assert counts is not None  # the pilot ran with these counts or fewer
    work = Work(grid, modes_of(grid, solution), level, counts, solution, Replicas(judged=plan.measure.judged), [])
    while True:
        work, outcome = _improve(plan, work, deadline, report)
        if outcome is not None:
            return _finish(plan, work, outcome, deadline)


def _first_level(plan: Plan) -> int:
    if plan.rtol >= ROUGH:
        return -1
    return 0 if plan.rtol > 3e-3 or plan.exact else 1


def _pilot(plan: Plan, saves: Saves, known: Edges, deadline: Deadline, report: Report) -> tuple[Grid, Solution]:
    clock, room = plan.site.flow.clock, plan.room(1)
    watch = lambda fraction, message: report(0.3 * fraction, message) or not deadline.allows()
    while True:
        problem = plan.problem(room, _pilot_counts(plan, room), 0)
        try:
            horizon = float(clock.horizon)  # pyright: ignore[reportAttributeAccessIssue]
            edges, solution = choose_panels(problem, horizon, PANEL_PART * plan.rtol, known, plan.measure.count, watch)
            return make_grid(clock, edges, saves), solution
        except RoomError as full:
            known, room = full.edges, plan.room(room + 1)


def _quick_look(plan: Plan, saves: Saves, deadline: Deadline, report: Report) -> tuple[Work, Outcome | None]:
    """Solve steps twice, with no modes of z known yet: enough where moments are matched, or a pilot for more."""
    grid = make_grid(plan.site.flow.clock, None, saves)
    counts, none = _pilot_counts(plan, grid.nodes), Replicas(judged=plan.measure.judged)
    work, ended = run_replicas(
        plan, Work(grid, None, min(_first_level(plan), 0), counts, None, none, []), QUICK_LOOK, deadline, report
    )
    met = ended is None and judge(work.replicas, plan.rtol).total <= 1.0
    return work, Outcome() if met else ended


def _pilot_counts(plan: Plan, nodes: int) -> Counts:
    counts = plan.counts(min(_first_level(plan), 0), nodes)
    if counts is None:
        needed = plan.bytes(Counts(FIRST_PATHS, FEWEST_FEW), nodes) / 2**30
        raise MemoryError(
            f"{nodes} nodes need {needed:.1f} GiB, the limit is {plan.memory_limit / 2**30:.1f}; raise memory_limit=, "
            f"or take fewer steps or a larger rtol"
        )
    return counts


def _improve(plan: Plan, work: Work, deadline: Deadline, report: Report) -> tuple[Work, Outcome | None]:
    """Do what the error bars ask for, once; an outcome ends the solve."""
    if not work.replicas.whole:
        work, ended = run_replicas(plan, work, FIRST_LOOK, deadline, report)
        if ended is not None:
            return work, ended
        short = judge(work.replicas, plan.rtol)
        if short.total <= 1.0:
            return work, Outcome()
        spread = short.statistical / student_factor(FIRST_LOOK)
        too_many = spread**2 * FIRST_LOOK > HOPELESS * MOST_REPLICAS
        if (too_many or short.bias > HOPELESS) and short.time < 1.0:
            higher, ended = _next_level(plan, work, short, deadline)
            if ended is None:  # if there is none, more replicas at least narrow the bars
                return higher, None
    done = len(work.replicas.whole)
    target = REPLICAS if done < REPLICAS else _replicas_needed(done, judge(work.replicas, plan.rtol))
    work, ended = run_replicas(plan, work, target, deadline, report)
    if ended is not None:
        return work, ended
    short = judge(work.replicas, plan.rtol)
    if short.total <= 1.0:
        return work, Outcome()
    if short.time > 0.7 and work.splits < SPLITS and not plan.explicit:
        return split_panels(plan, work, coarse_panels(plan, work)), None
    done = len(work.replicas.whole)
    if short.bias <= 0.9 and _replicas_needed(done, short) <= MOST_REPLICAS and done < MOST_REPLICAS:
        return work, None
    return _next_level(plan, work, short, deadline)


def _replicas_needed(done: int, short: Shortfall) -> int:
    """Return how many replicas would bring the spread down to what the bias and the time error leave."""
    room = max(1.0 - short.bias**2 - short.time**2, 0.1)
    return int(np.ceil(1.1 * done * short.statistical**2 / room))


def _next_level(plan: Plan, work: Work, short: Shortfall, deadline: Deadline) -> tuple[Work, Outcome | None]:
    short_of = missed(plan, short)
    counts = plan.counts(work.level + 1, work.grid.nodes) if work.level < LAST_LEVEL else None
    if counts is None:
        reason = "at the last level of paths" if work.level >= LAST_LEVEL else "for want of memory (memory_limit=)"
        return work, Outcome(Code.TOLERANCE, f"{short_of}, {reason}")
    seconds = LEVEL_COST * work.seconds
    if not deadline.allows(FIRST_LOOK * seconds):
        return work, Outcome(Code.TIMEOUT, f"{short_of}; more paths would exceed the {deadline.limit:g} s allowed")
    rotation = modes_of(work.grid, work.solutions[-1])
    return replace(
        work,
        level=work.level + 1,
        counts=counts,
        rotation=rotation,
        reference=work.solutions[-1],
        replicas=Replicas(coarser=work.replicas, judged=work.replicas.judged),
        solutions=[],
        sample=None,
        seconds=seconds,
        previous=work,
    ), None


def _finish(plan: Plan, work: Work, outcome: Outcome, deadline: Deadline) -> Solved:
    work = work.best(plan.rtol)
    stats = {
        "seconds": deadline.spent,
        "rtol": plan.rtol,
        "nodes": work.grid.nodes,
        "level": work.level,
        "paths": work.counts.paths,
        "response_paths": work.counts.few,
        "replicas": len(work.replicas.whole),
        "half_replicas": len(work.replicas.half),
        "devices": 1 if plan.mesh is None else plan.mesh.size,
        "replica_bytes": plan.bytes(work.counts, work.grid.nodes),
        "edges": None if work.grid.edges is None else work.grid.edges.tolist(),
    }
    return Solved(work.grid, work.replicas, work.solutions, work.sample, outcome, stats)
