"""A solve in progress: what is known so far, the time that is left, shorter panels, and words for what was missed."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jax.sharding import Mesh

from ..numerics.blocks import panels_of
from ..numerics.devices import any_process
from ..results import Code, Outcome, PathSample
from .errors import Replicas, Shortfall, judge
from .grid import Grid, make_grid
from .measure import Solution, error_sources
from .modes import Rotation, principal_rotation, relative_effect
from .paths import Counts
from .plan import Plan

Report = Callable[[float, str], Any]


class Deadline:
    """A time limit in seconds, or none; processes that work together agree on whether it is over."""

    def __init__(self, limit: float | None, mesh: Mesh | None = None) -> None:
        self.began, self.limit, self.mesh = time.perf_counter(), limit, mesh

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.began

    def allows(self, seconds: float = 0.0) -> bool:
        """Whether that many seconds more are within the limit."""
        return self.limit is None or not any_process(self.mesh, self.spent + seconds > self.limit)


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
    sample: PathSample | None = None
    seconds: float = 0.0  # of one solve, as far as known
    splits: int = 0
    previous: "Work | None" = None  # the level below

    def best(self, rtol: float) -> "Work":
        """Return this work or that of the level below, whichever is more accurate so far."""
        if self.previous is None or judge(self.replicas, rtol).total < judge(self.previous.replicas, rtol).total:
            return self
        return self.previous


def coarse_panels(plan: Plan, work: Work) -> np.ndarray:
    """Return the panels that too large time errors at saved times come from."""
    assert work.grid.edges is not None
    coarse, at_saves = [np.zeros(0, dtype=int)], panels_of(work.grid.edges, work.grid.saves)
    sources = error_sources(work.grid, work.solutions[-1])
    for name in work.replicas.judged:
        error = np.mean([errors[name] for errors in work.replicas.time_errors], axis=0)
        allowed = 0.35 * plan.rtol * work.replicas.scale(name)
        coarse.append(sources[name][at_saves[error > 0.5 * allowed]])
    return np.unique(np.concatenate(coarse))


def split_panels(plan: Plan, work: Work, which: np.ndarray) -> Work:
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
        replicas=Replicas(judged=work.replicas.judged),
        solutions=[],
        sample=None,
        splits=work.splits + 1,
    )


def _carried_rotation(work: Work, grid: Grid) -> Rotation:
    """Return the modes on a new grid, from the modes or a replica's root on the old one."""
    if work.solutions:
        last = work.solutions[-1]
        effect = relative_effect(work.grid, last.R_w, last.L)
        return principal_rotation(work.grid.interpolate(grid.times) @ last.L, effect)
    return np.eye(grid.nodes)


def missed(plan: Plan, short: Shortfall) -> str:
    """Say what accuracy was reached, and which part of the error stands in the way."""
    parts = {"spread": short.statistical, "bias": short.bias, "time error": short.time}
    worst = max(parts, key=lambda name: parts[name])
    return f"accuracy {plan.rtol * short.total:.2g} instead of {plan.rtol:g} at worst ({worst})"


def late(plan: Plan, work: Work, deadline: Deadline) -> Outcome:
    """Return the outcome of a solve whose time is over; it may have got there all the same."""
    short = judge(work.best(plan.rtol).replicas, plan.rtol)
    if not np.isfinite(short.total):
        return Outcome(Code.TIMEOUT, f"no error bars within the {deadline.limit:g} s allowed")
    if short.total <= 1.0:
        return Outcome()
    return Outcome(Code.TIMEOUT, f"{missed(plan, short)} when the {deadline.limit:g} s allowed were over")


def failed(plan: Plan, work: Work, blocks: list[int]) -> Outcome:
    """Return the outcome of a solve with blocks that do not settle."""
    when = float(np.asarray(work.grid.blocks.times)[min(blocks), 0])
    if plan.explicit:
        fix = "take a smaller step_size, or truncation="
        return Outcome(Code.DIVERGED, f"gradient descent ceases to be finite by time {when:g}; {fix}")
    return Outcome(Code.DIVERGED, f"the iteration does not settle at time {when:g}, however short the panel")
