"""A solve in progress: what is known so far, shorter panels, more paths, and words for what was missed."""

from dataclasses import dataclass, replace

import numpy as np

from ...numerics.blocks import panels_of
from ...numerics.deadline import Deadline
from ...results import Code, Outcome, PathSample
from ..readout.curves import error_sources
from ..readout.grid import Grid, make_grid
from ..readout.solution import Solution
from ..sampling.modes import Rotation, average, modes_of, principal_rotation, relative_effect
from ..sampling.paths import Counts
from .errors import Replicas, judge
from .moves import Shortfall, State
from .plan import Plan


@dataclass(frozen=True)
class Work:
    """A solve in progress: the grid and its rotation, the level, and what its replicas gave."""

    grid: Grid
    rotation: Rotation | None  # modes of z, if known
    level: int
    counts: Counts
    reference: Solution | None  # iterations start from these
    replicas: Replicas
    solutions: list[Solution]
    look: int  # replicas after which error bars are looked at
    sample: PathSample | None = None
    target: int = 0  # replicas that were asked for
    seconds: float = 0.0  # of one solve, as far as known
    splits: int = 0
    unsettled: tuple[int, ...] = ()  # blocks of the newest replicas that did not settle
    previous: "Work | None" = None  # what was known before panels were split or paths added
    thin: bool = False  # whether the level below did not settle
    borrowed: bool = False  # whether panels are a neighbour's, not a pilot's

    def best(self, rtol: float) -> "Work":
        """Return this work or what was known before, whichever is most accurate."""
        if self.previous is None:
            return self
        before = self.previous.best(rtol)
        return self if judge(self.replicas, rtol).total < judge(before.replicas, rtol).total else before

    def with_answer(self) -> "Work | None":
        """Return this work if it has replicas with a known bias, else what was known before."""
        return self if self.replicas.parts else self.previous


def state_of(plan: Plan, work: Work) -> State:
    """Return what the rule of `moves` sees of a solve."""
    return State(
        replicas=len(work.replicas.whole),
        target=max(work.target, work.look),
        parted=len(work.replicas.parts),
        level=work.level,
        splits=work.splits,
        short=judge(work.replicas, plan.rtol),
        unsettled=bool(work.unsettled),
        has_paths=plan.counts(work.level + 1, work.grid.nodes) is not None,
    )


def coarse_panels(plan: Plan, work: Work) -> np.ndarray:
    """Return the panels that too large time errors at saved times come from."""
    assert work.grid.edges is not None
    coarse, at_saves = [np.zeros(0, dtype=int)], panels_of(work.grid.edges, work.grid.places)
    sources = error_sources(work.grid, work.solutions[-1])
    for name in work.replicas.judged:
        error = np.mean([errors[name] for errors in work.replicas.time_errors], axis=0)
        allowed = plan.panels.split_part * plan.rtol * work.replicas.scale(name)
        coarse.append(sources[name][at_saves[error > allowed]])
    return np.unique(np.concatenate(coarse))


def split_panels(plan: Plan, work: Work) -> Work:
    """Halve the panels that did not settle or left too large time errors, and begin the level anew."""
    assert work.grid.edges is not None
    which = np.unique(work.unsettled) if work.unsettled else coarse_panels(plan, work)
    halves = [(start, plan.span.half(end - start)) for start, end in work.grid.edges[which[:, None] + np.arange(2)]]
    middles = [start + half for start, half in halves if half is not None]
    edges = np.sort(np.r_[work.grid.edges, middles])
    grid = make_grid(plan.clock, edges, work.grid.saves, work.grid.order)
    return replace(
        work,
        grid=grid,
        rotation=_carried_rotation(work, grid),
        counts=plan.counts(work.level, grid.nodes) or work.counts,
        reference=None,
        replicas=Replicas(judged=work.replicas.judged),
        solutions=[],
        sample=None,
        target=0,
        splits=work.splits + 1,
        unsettled=(),
        previous=work.with_answer(),
    )


def _carried_rotation(work: Work, grid: Grid) -> Rotation:
    """Return the modes on a new grid, from the modes or a replica's root on the old one."""
    if work.solutions:
        last = work.solutions[-1]
        effect = relative_effect(work.grid, last.R_w, last.L)
        return principal_rotation(work.grid.interpolate(grid.times) @ last.L, effect)
    return np.eye(grid.nodes)


def add_paths(plan: Plan, work: Work) -> Work:
    """Go to the next level of paths, with the modes and the operators found so far."""
    counts = plan.counts(work.level + 1, work.grid.nodes)
    assert counts is not None  # the rule asks for it only if there is memory
    reference = average(work.solutions) if work.solutions else work.reference
    return replace(
        work,
        level=work.level + 1,
        counts=counts,
        rotation=work.rotation if reference is None else modes_of(work.grid, reference),
        reference=reference,
        replicas=Replicas(judged=work.replicas.judged),
        solutions=[],
        sample=None,
        target=0,
        seconds=plan.settings.level_factor * work.seconds,  # about
        unsettled=(),
        previous=work.with_answer(),
        thin=bool(work.unsettled),
    )


def verdict(plan: Plan, work: Work) -> Outcome:
    """Return the outcome of a solve that ended by itself: met, not settled, or short of what was asked for."""
    if work.unsettled:
        return _not_settled(plan, work)
    short = judge(work.replicas, plan.rtol)
    if short.total <= 1.0:
        return Outcome()
    reason = (
        "at the last level of paths" if work.level >= plan.settings.last_level else "for want of memory (memory_limit=)"
    )
    return Outcome(Code.TOLERANCE, f"{_missed(plan, short)}, {reason}")


def late(plan: Plan, work: Work | None, deadline: Deadline) -> Outcome:
    """Return the outcome of a solve whose time is over; it may have got there all the same."""
    allowed = f"the {deadline.limit:g} s allowed (time_limit=)"
    short = None if work is None else judge(work.best(plan.rtol).replicas, plan.rtol)
    if short is None or not np.isfinite(short.total):
        return Outcome(Code.NO_ANSWER, f"no error bars yet when {allowed} were over; allow more, or a larger rtol")
    if short.total <= 1.0:
        return Outcome()
    return Outcome(Code.TIMEOUT, f"{_missed(plan, short)} when {allowed} were over")


def _missed(plan: Plan, short: Shortfall) -> str:
    """Say what accuracy was reached, and which part of the error stands in the way."""
    parts = {"spread": short.statistical, "bias": short.bias, "time error": short.time}
    worst = max(parts, key=lambda name: parts[name])
    return f"accuracy {plan.rtol * short.total:.2g} instead of {plan.rtol:g} at worst ({worst})"


def _not_settled(plan: Plan, work: Work) -> Outcome:
    when = float(np.asarray(work.grid.blocks.times)[min(work.unsettled), 0])
    if plan.explicit:
        fix = "take a smaller step_size, or truncation="
        return Outcome(Code.DIVERGED, f"gradient descent ceases to be finite by time {when:g}; {fix}")
    return Outcome(Code.DIVERGED, f"the iteration does not settle at time {when:g}, however short the panel")
