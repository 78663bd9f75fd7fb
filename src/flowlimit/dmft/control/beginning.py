"""What an earlier limit gives a solve to begin with: panels, a level of paths, and, of a neighbour, a reference.

A neighbour is a limit of another problem on the same span of time, solved as accurately as is asked for now, e.g. of
the point before in a sweep. Its panels and operators take the place of a pilot's. Error bars judge them as they judge
a pilot's, and where they do not do, there is a pilot after all.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ...numerics.blocks import Edges
from ...results import Limit
from ..readout.grid import Saves, make_grid
from ..readout.solution import Solution
from ..sampling.modes import modes_of
from .errors import Replicas
from .plan import Plan
from .work import Work

SAME_END = 1e-9
"""Relative distance up to which two spans end at the same time."""
INNOVATION = 1e-12
"""Part of a variance below which what a node adds to those before it is rounding, as for replicas."""


@dataclass(frozen=True)
class Beginning:
    """Edges of panels in time, the level of paths or None for the plan's first one, and the limit they are of."""

    edges: Edges
    level: int | None
    limit: Limit | None = None


def beginning_of(limit: Limit | None) -> Beginning | None:
    """Return what a limit gives; None if there is none or it has no panels."""
    if limit is None or not limit.stats.nodes:
        return None
    edges = limit.stats.edges
    return Beginning(np.zeros(1) if edges is None else np.asarray(edges), limit.stats.level, limit)


def neighbours_work(plan: Plan, saves: Saves, beginning: Beginning | None) -> Work | None:
    """Return the work before its first replica, with a neighbour's panels; None if the limit is no such neighbour."""
    limit = None if beginning is None else beginning.limit
    if beginning is None or limit is None or not _is_neighbour(plan, limit):
        return None
    grid = make_grid(plan.clock, beginning.edges, saves, plan.settings.order)
    level = plan.settled_level(plan.first_level if beginning.level is None else beginning.level, grid.nodes)
    counts = plan.counts(level, grid.nodes)
    if counts is None:
        return None
    reference = _reference(limit)
    rotation, none = modes_of(grid, reference), Replicas(judged=plan.measure.judged)
    return Work(grid, rotation, level, counts, reference, none, [], plan.settings.first_look, borrowed=True)


def _is_neighbour(plan: Plan, limit: Limit) -> bool:
    """Whether a limit's panels cover the plan's span of time, and its operators are those of one output."""
    span, stats = plan.span, limit.stats
    if plan.explicit or span.step or stats.edges is None or limit.kernels is None or limit.operators is None:
        return False
    nodes = plan.settings.order * (len(stats.edges) - 1)
    squares = limit.kernels.C_f, limit.operators.R_w, limit.operators.R_f
    known = all(square.shape == (nodes, nodes) and bool(np.isfinite(square).all()) for square in squares)
    return known and stats.rtol <= plan.rtol and abs(stats.edges[-1] - span.end) <= SAME_END * span.end


def _reference(limit: Limit) -> Solution:
    assert limit.kernels is not None
    assert limit.operators is not None
    R_w, R_f = limit.operators.R_w, limit.operators.R_f
    return Solution(R_w, np.eye(len(R_f)) - R_f, causal_root(limit.kernels.C_f), np.zeros((len(R_w), 0)))


def causal_root(square: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """Return the lower triangular L with L L^T = square, without columns for nodes that add nothing.

    Examples
    --------
    >>> L = causal_root(np.array([[4.0, 2.0, 2.0], [2.0, 1.0, 1.0], [2.0, 1.0, 2.0]]))
    >>> L.tolist()
    [[2.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0]]
    """
    L = np.zeros_like(square)
    for i in range(len(square)):
        column = square[i:, i] - L[i:, :i] @ L[i, :i]
        if column[0] > INNOVATION * square[i, i]:
            L[i:, i] = column / np.sqrt(column[0])
    return L
