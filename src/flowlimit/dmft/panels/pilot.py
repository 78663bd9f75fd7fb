"""The pilot: one solve with few paths that chooses panels as it goes, and the modes of z that matter."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from ...numerics.blocks import Edges, panels
from ...numerics.devices import of_first_process
from ...types import Scalar
from ..grid import ORDER, panel_tail
from ..march import advance_blocks, in_room, start
from ..measure import NEGLIGIBLE, Solution, read_solution
from ..problem import Problem
from ..shards import on_devices
from ..site import Site
from ..state import Paths

GROWTH, SAFETY, SHORTEST = 2.5, 0.85, 1e-10


class RoomError(Exception):
    """The arrays have no room for another panel; ``edges`` are the panels found so far."""

    def __init__(self, edges: Edges) -> None:
        super().__init__("no room for another panel")
        self.edges = edges


class BlowUpError(Exception):
    """No panel is short enough: the flow ceases to be finite at ``time``."""

    def __init__(self, time: float) -> None:
        super().__init__(f"the flow ceases to be finite at time {time:g}")
        self.time = time


def choose_panels(
    problem: Problem,
    horizon: float,
    tolerance: float,
    known: Edges,
    observables: int,
    watch: Callable[[float, str], None],
) -> tuple[Edges, Solution]:
    """Solve from 0 to the horizon, each panel as long as its spectral tail allows.

    ``tolerance`` bounds the tails relative to the roots of the errors. Panels in ``known`` are tried first. ``watch``
    is told the progress before every try; it raises to end the solve.
    """
    watch(0.0, "panels")
    front, rows = start(problem, observables)
    room, edges = problem.paths.normals.shape[0], [0.0]
    length = first_length(problem, horizon)
    scale = None
    while edges[-1] < horizon:
        node = (len(edges) - 1) * ORDER
        if node + ORDER > room:
            raise RoomError(np.array(edges))
        watch(edges[-1] / horizon, f"panels up to time {edges[-1]:.3g}")
        end = _next_edge(edges[-1], length, horizon, known)
        panel = in_room(problem, panels(np.array([edges[-1], end]), ORDER), first=len(edges) - 1)
        tried, rows = advance_blocks((problem, *panel, front), rows)
        tail, scale = _relative_tail(rows, node, problem.setting.tolerance, scale)
        tail = float(of_first_process(problem.mesh, np.array(tail)))
        length = end - edges[-1]
        if tail > tolerance:
            if length < SHORTEST * horizon:
                raise BlowUpError(edges[-1])
            length *= np.clip(SAFETY * (tolerance / tail) ** (1.0 / ORDER), 0.2, 0.75)
            known = known[known <= edges[-1]]
            continue
        front = tried
        edges.append(end)
        length *= np.clip(SAFETY * (tolerance / max(tail, 1e-300)) ** (1.0 / ORDER), 0.5, GROWTH)
    return np.array(edges), read_solution(problem, rows, (len(edges) - 1) * ORDER)


def first_length(problem: Problem, horizon: float) -> float:
    """Return a length for the first panel, from the rate of the lazy solution at the start."""
    rate = float(_mean_rate(problem.mesh, problem.site, problem.paths))
    fastest = rate * (1.0 + 1.0 / np.sqrt(float(problem.setting.aspect_ratio))) ** 2
    return min(horizon, 3.0 / fastest) if fastest > 0.0 else horizon


@eqx.filter_jit
def _mean_rate(mesh: Mesh | None, site: Site, paths: Paths) -> Scalar:
    def rate(site: Site, paths: Paths) -> Scalar:
        theta, zero = paths.theta[None], jnp.zeros((1, paths.theta.shape[1]))
        slopes = site.slopes(jnp.zeros(1), theta, zero)
        return paths.total(jnp.abs(jnp.sum(slopes.A * slopes.C, axis=1)[0]) @ paths.probability)

    return on_devices(mesh, rate, site, paths, like=0.0)


def _next_edge(start: float, length: float, horizon: float, known: Edges) -> float:
    ahead = known[known > start * (1.0 + 1e-12)]
    if len(ahead):
        return float(ahead[0])
    left = horizon - start
    if left <= 1.01 * length:
        return horizon
    return start + min(length, left / 2.0) if left < 2.0 * length else start + length


def _relative_tail(rows: Any, node: int, tolerance: Scalar, scale: Any) -> tuple[float, Any]:
    """Return the larger relative tail of the two errors' roots, infinite if the block did not settle."""
    own = slice(node, node + ORDER)
    L, R = np.asarray(rows.L)[: own.stop, : own.stop], np.asarray(rows.R_w)[own, : own.stop]
    disagreement = float(np.asarray(rows.disagreement)[node])
    roots = [L[own], L[own] + R @ L]
    sizes = [np.linalg.norm(root, axis=1) for root in roots]
    if not disagreement <= 10.0 * float(tolerance) or not all(np.isfinite(size).all() for size in sizes):
        return np.inf, scale
    scale = [size[0] for size in sizes] if scale is None else scale
    tails = (
        panel_tail(root) / max(size.min(), NEGLIGIBLE * first, 1e-300)
        for root, size, first in zip(roots, sizes, scale, strict=True)
    )
    return max(tails), scale
