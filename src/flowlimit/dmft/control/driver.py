"""The host's part of a solve: a pilot, then the moves that the error bars ask for, until the rule or the user ends it.

What to do next is decided in `moves`; here it is done. Before every move the deadline and the user's stop are looked
at. The outcome says what was missed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...numerics.blas import one_thread_each
from ...numerics.blocks import Edges
from ...numerics.deadline import Deadline, OutOfTimeError
from ...numerics.devices import any_process, of_first_process
from ...results import Code, Outcome, PathSample, SolveStats
from ..ending import FindEnding
from ..readout.grid import Grid, Saves, make_grid
from ..readout.solution import Solution
from ..sampling.modes import modes_of
from ..sampling.paths import Counts
from ..settings import StepSettings
from .beginning import Beginning, neighbours_work
from .draws import make_replica
from .errors import Replicas, judge
from .moves import CLIMB, END, STEADY, Choice, Move, choose
from .pilot import BlowUpError, RoomError, begin, choose_panels, in_larger_arrays
from .plan import Plan
from .replicas import Job, all_parts, more_replicas, run_batch
from .rest import at_rest, held_errors
from .work import Work, add_paths, late, split_panels, state_of, verdict

Report = Callable[[float, str], Any]

FURTHER = 2.0
"""Factor by which more paths must take a pilot further in time for even more to be tried."""
CRAWL = 1.2
"""Factor in time that the later half of a pilot's panels gains at least: with too few paths they shrink."""
PILOT_PART = 0.3
"""Part of the progress bar that the pilot has."""


class StoppedError(Exception):
    """The user's progress function asked for the end."""


@dataclass(frozen=True)
class Solved:
    """What a solve found: its grid, its replicas with their solutions, some paths, and how it ended."""

    grid: Grid | None
    replicas: Replicas
    solutions: list[Solution]
    sample: PathSample | None
    outcome: Outcome
    stats: SolveStats


def unsolved(outcome: Outcome) -> Solved:
    """Return what there is of a solve that has no answer."""
    return Solved(None, Replicas(), [], None, outcome, SolveStats())


@one_thread_each()
def solve(
    plan: Plan,
    saves: Saves,
    start: Beginning | None,
    deadline: Deadline,
    report: Report,
    ending: FindEnding,
) -> Solved:
    """Solve a plan, from what ``start`` gives. Panels end where the training is at rest."""
    watch = _Watch(plan, deadline, report)
    work = None
    try:
        work = neighbours_work(plan, saves, start) or _begin(plan, saves, start, watch, ending)
        while (choice := _choose(plan, work, saves, ending)).move is not Move.END:
            watch.look(plan, work, choice)
            if work.borrowed and (choice.move is Move.SPLIT or work.unsettled):
                work = _begin(plan, saves, start, watch, ending)
            else:
                work = _make_move(plan, work, choice, watch)
        outcome = verdict(plan, work)
    except OutOfTimeError:
        outcome = late(plan, work, deadline)
    except StoppedError:
        outcome = Outcome(Code.STOPPED, f"stopped on request at: {watch.at}")
    except BlowUpError as error:
        outcome = Outcome(Code.DIVERGED, f"{error}; {_advice(plan, error.level)}")
    except MemoryError as error:
        outcome = Outcome(Code.MEMORY, str(error))
    return _finish(plan, _held(plan, work, saves, ending), outcome, deadline)


def _advice(plan: Plan, level: int) -> str:
    more = plan.settings.first_paths * plan.settings.level_factor ** max(level + 1, 1)
    return (
        f"either the limit is not finite there: take an earlier horizon; or paths are too few for late times: try "
        f"solver=fl.PanelSolver(first_paths={more}, lowest_level=0)"
    )


def _choose(plan: Plan, work: Work, saves: Saves, ending: FindEnding) -> Choice:
    """Return what to do next; once all is met, look also at the errors of curves that are held."""
    state = state_of(plan, work)
    choice = choose(plan.settings, state)
    if choice.move is not Move.END or state.short.total > 1.0:
        return choice
    held = _held(plan, work, saves, ending)
    assert held is not None  # there is work
    choice = choose(plan.settings, replace(state, short=judge(held.replicas, plan.rtol)))
    # what holding leaves open does not come from long panels
    return (CLIMB if state.can_climb(plan.settings) else END) if choice.move is Move.SPLIT else choice


class _Watch:
    """Looks at the deadline and at the user's stop; raises if either is there."""

    def __init__(self, plan: Plan, deadline: Deadline, report: Report) -> None:
        self.deadline, self.at, self._fraction = deadline, "the beginning", 0.0
        self._alone = plan.mesh is None
        self._stops = lambda fraction, message: any_process(plan.mesh, bool(report(fraction, message)))

    def pilot(self, fraction: float, message: str) -> None:
        """Look while panels are being chosen."""
        self._tell(PILOT_PART * fraction, message)
        self.deadline.check()

    def look(self, plan: Plan, work: Work, choice: Choice) -> None:
        """Look before a move, and whether there is time for it."""
        done, of = len(work.replicas.whole), max(choice.target, work.target, work.look)
        name = f"level {work.level}, {choice.move.value}"
        if choice.move is Move.REPLICATE:
            name = f"level {work.level}, replica {done} of {of}"
        self._tell(PILOT_PART + (1.0 - PILOT_PART) * min(1.0, done / of), name)
        if not self.deadline.allows(_seconds(plan, work, choice)):
            raise OutOfTimeError

    def again(self) -> None:
        """Look at the user's stop while replicas run; processes that work together look between moves alone."""
        if self._alone:
            self._tell(self._fraction, self.at)

    def _tell(self, fraction: float, message: str) -> None:
        self.at, self._fraction = message, fraction
        if self._stops(fraction, message):
            raise StoppedError


def _seconds(plan: Plan, work: Work, choice: Choice) -> float:
    """Return the seconds that a move takes until it can be looked at again, as far as is known."""
    settings = plan.settings
    if choice.move in (Move.REPLICATE, Move.PART):
        return len(_jobs(plan, work, choice)) * work.seconds
    return settings.first_look * work.seconds * (settings.level_factor if choice.move is Move.CLIMB else 1.0)


def _jobs(plan: Plan, work: Work, choice: Choice) -> list[Job]:
    if choice.move is Move.PART:
        return all_parts(plan, work, choice.target)
    return more_replicas(plan, work, choice.target)


def _make_move(plan: Plan, work: Work, choice: Choice, watch: _Watch) -> Work:
    if choice.move in (Move.REPLICATE, Move.PART):
        asked = max(work.target, choice.target) if choice.move is Move.REPLICATE else work.target
        return run_batch(plan, replace(work, target=asked), _jobs(plan, work, choice), watch.deadline, watch.again)
    return split_panels(plan, work) if choice.move is Move.SPLIT else add_paths(plan, work)


def _begin(plan: Plan, saves: Saves, start: Beginning | None, watch: _Watch, ending: FindEnding) -> Work:
    """Return the work before its first replica: grid, modes and counts. Of steps, the quick look if that is enough."""
    known, level = np.zeros(1), None
    if start is not None:
        known, level = plan.ruler.places(start.edges), start.level
    level = plan.first_level if level is None else level
    if plan.explicit:
        looked = _quick_look(plan, saves, watch)
        if looked.unsettled or judge(looked.replicas, plan.rtol).total <= 1.0:
            return looked
        grid, solution = looked.grid, looked.solutions[0]
        previous, seconds = looked, looked.seconds
    else:
        (grid, solution), fewest = _steady_pilot(plan, saves, known, watch, ending)
        previous, seconds, level = None, 0.0, max(level, fewest)
    level = plan.settled_level(level, grid.nodes)
    counts = plan.counts(level, grid.nodes) or plan.counts(min(level, 0), grid.nodes)
    assert counts is not None  # the pilot ran with these counts or fewer
    none = Replicas(judged=plan.measure.judged)
    look = plan.settings.first_look
    own = Work(grid, modes_of(grid, solution), level, counts, solution, none, [], look, seconds=seconds)
    return replace(own, previous=previous)


def _steady_pilot(
    plan: Plan, saves: Saves, known: Edges, watch: _Watch, ending: FindEnding
) -> tuple[tuple[Grid, Solution], int]:
    """Run the pilot at the first level of paths at which it gets through; return also that level.

    With few paths the equations may become unstable late. A training that ceases to be finite does so with any number
    of them: where more take a pilot no further, there is no answer. One that crawls is given up.
    """
    level, reached = min(plan.first_level, 0), -np.inf
    while True:
        try:
            return _pilot(plan, saves, known, watch, ending, level), level
        except BlowUpError as error:
            if not _can_climb(plan, level) or error.time <= FURTHER * reached:
                raise BlowUpError(error.time, level) from None
            level, reached = level + 1, error.time
        except RoomError:
            level += 1


def _can_climb(plan: Plan, level: int) -> bool:
    return level < plan.settings.last_level and plan.counts(level + 1, plan.room(1)) is not None


def _crawls(edges: tuple[float, ...]) -> bool:
    return edges[-1] < CRAWL * edges[len(edges) // 2]


def _pilot(
    plan: Plan, saves: Saves, known: Edges, watch: _Watch, ending: FindEnding, level: int
) -> tuple[Grid, Solution]:
    clock, room, span = plan.clock, plan.room(1), plan.span
    own = lambda times, errors: at_rest(times, errors, clock.end, plan.rtol, plan.panels, ending)
    rests = lambda times, errors: bool(of_first_process(plan.mesh, np.array(own(times, errors))))
    order, observables = plan.settings.order, plan.measure.count
    make = lambda room: make_replica(plan, room, _pilot_counts(plan, room, level), 0)
    watch.pilot(0.0, "panels")
    pilot = begin(make(room), span, order, known, observables)
    while True:
        try:
            edges, solution = choose_panels(pilot, plan.panels, span, plan.rtol, watch.pilot, rests)
            return make_grid(clock, edges, saves, order), solution
        except RoomError as full:
            if level < STEADY and _can_climb(plan, level) and _crawls(full.progress.edges):
                raise
            pilot, room = full.progress, plan.room(room + 1)
        known = np.array(pilot.edges)
        larger = make(room)
        moves = plan.can_move(_pilot_counts(plan, room, level), room)
        pilot = in_larger_arrays(pilot, larger, observables) if moves else None
        pilot = pilot or begin(larger, span, order, known, observables)


def _quick_look(plan: Plan, saves: Saves, watch: _Watch) -> Work:
    """Solve steps with no modes of z known yet: once, or for error bars where matched moments make the answer exact."""
    watch.pilot(0.0, "a first look")
    assert isinstance(plan.settings, StepSettings)
    look, grid = plan.settings.quick_look, make_grid(plan.clock, None, saves, plan.settings.order)
    none = Replicas(judged=plan.measure.judged)
    level = min(plan.first_level, 0)
    work = Work(grid, None, level, _pilot_counts(plan, grid.nodes, level), None, none, [], look)
    jobs = [*more_replicas(plan, work, look), *all_parts(plan, work, 1)] if plan.exact else more_replicas(plan, work, 1)
    return run_batch(plan, work, jobs, watch.deadline, watch.again)


def _pilot_counts(plan: Plan, nodes: int, level: int) -> Counts:
    counts = plan.counts(level, nodes)
    if counts is None:
        raise MemoryError(plan.refusal(nodes, level))
    return counts


def _held(plan: Plan, work: Work | None, saves: Saves, ending: FindEnding) -> Work | None:
    """Return the best that is known, with the errors of curves that are held from the last panel on."""
    work = None if work is None else work.best(plan.rtol)
    end = None if work is None else plan.held_from(work.grid.edges)
    where = None if end is None else ending()
    if work is None or end is None or where is None or not work.solutions:
        return work
    errors = held_errors(plan.measure, work.grid, work.solutions, where, plan.panels.rest_factor)
    return replace(work, replicas=work.replicas.with_time_errors(saves > end, errors))


def _finish(plan: Plan, work: Work | None, outcome: Outcome, deadline: Deadline) -> Solved:
    if work is None:
        return replace(unsolved(outcome), stats=SolveStats(deadline.spent, plan.rtol))
    if outcome == Outcome():  # held errors were not there before
        outcome = verdict(plan, work)
    stats = SolveStats(
        seconds=deadline.spent,
        rtol=plan.rtol,
        nodes=work.grid.nodes,
        level=work.level,
        paths=work.counts.paths,
        response_paths=work.counts.few,
        replicas=len(work.replicas.whole),
        part_replicas=work.replicas.of * len(work.replicas.parts),
        devices=1 if plan.mesh is None else plan.mesh.size,
        memory_bytes=plan.memory(work.counts, work.grid.nodes),
        edges=None if work.grid.edges is None else tuple(plan.ruler.times(work.grid.edges).tolist()),
        held_from=plan.held_from(work.grid.edges),
    )
    return Solved(work.grid, work.replicas, work.solutions, work.sample, outcome, stats)
