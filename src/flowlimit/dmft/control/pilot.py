"""The pilot: one solve with few paths that chooses panels as it goes, and the modes of z that matter."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from ...numerics.blocks import Edges, step_counts
from ...numerics.compiling import compiled
from ...numerics.devices import of_first_process, put_like
from ...types import Scalar
from ..engine.march import advance_blocks, compiling, in_room, start
from ..engine.replica import Replica
from ..engine.shards import on_devices
from ..engine.site import Site
from ..engine.state import Front, Paths, Rows
from ..readout.curves import NEGLIGIBLE
from ..readout.grid import panel_tail
from ..readout.solution import Solution, read_solution
from ..settings import PanelSettings
from .span import Span

FIRST_RATES = 3.0
"""Length of the first panel, in units of the fastest rate of the lazy solution at the initialisation."""
SETTLED_FACTOR = 10.0
"""Factor on the agreement asked for up to which a pilot's panel counts as settled."""
SLOWEST_GROWTH = 0.5
"""The least factor from an accepted panel to the next."""
TINY = 1e-300
"""Below every size: no division by 0."""


@dataclass(frozen=True)
class Progress:
    """A pilot on its way: what is solved up to the last edge, what to try next, and both errors at the nodes.

    Panels in ``known`` are tried first, then one of the length.
    """

    replica: Replica
    front: Front
    rows: Rows
    edges: tuple[float, ...]
    known: Edges
    length: float
    scale: list[float] | None
    times: np.ndarray
    errors: np.ndarray


class RoomError(Exception):
    """The arrays have no space for another panel; a pilot with larger ones can go on from here."""

    def __init__(self, progress: Progress) -> None:
        super().__init__("no room for another panel")
        self.progress = progress


class BlowUpError(Exception):
    """No panel after ``time`` is short enough: the training ceases to be finite, or paths of this level are too few."""

    def __init__(self, time: float, level: int = 0) -> None:
        super().__init__(f"no panel after time {time:g} could be solved, however short")
        self.time, self.level = time, level


def begin(replica: Replica, span: Span, order: int, known: Edges, observables: int) -> Progress:
    """Return a pilot at time 0; its panels' program is compiled beside."""
    any_panel = span.ruler.panels(np.array([span.begin, span.begin + span.shortest]), order)
    with compiling(replica, observables, any_panel):
        front, rows = start(replica, observables)
        length = _first_length(replica, span, order)
    return Progress(replica, front, rows, (span.begin,), known, length, None, np.zeros(0), np.zeros((0, 2)))


def in_larger_arrays(progress: Progress, larger: Replica, observables: int) -> Progress | None:
    """Return a pilot that goes on in the arrays of a larger replica; None where these are spread, or of other paths."""
    old, new = progress.replica.paths, larger.paths
    numbers = lambda paths: (paths.probability.shape, paths.few_probability.shape)
    if larger.mesh is not None or numbers(old) != numbers(new):
        return None
    fresh = np.asarray(new.normals)[len(old.normals) :]
    normals = put_like(np.concatenate([np.asarray(old.normals), fresh]), new.normals)
    replica = replace(larger, paths=replace(old, normals=normals))
    front, rows = jax.tree.map(_in_corner, (progress.front, progress.rows), start(replica, observables))
    return replace(progress, replica=replica, front=front, rows=rows)


def _in_corner(part: jax.Array, whole: jax.Array) -> jax.Array:
    filled = np.zeros(whole.shape)
    filled[tuple(map(slice, part.shape))] = part
    return put_like(filled, whole)


def choose_panels(
    progress: Progress,
    settings: PanelSettings,
    span: Span,
    rtol: float,
    watch: Callable[[float, str], None],
    rests: Callable[[np.ndarray, np.ndarray], bool] = lambda times, errors: False,
) -> tuple[Edges, Solution]:
    """Solve from where a pilot is to the end, each panel as long as its spectral tail allows.

    ``settings.panel_part * rtol`` bounds the tails relative to the roots of the errors. ``watch`` is told the progress
    before every try; it raises to end the solve. ``rests`` is given the nodes' times and both errors there after every
    panel; if it is True, the panels end there. The shortest panel that sums over steps has them all as nodes: whatever
    its tail, nothing is left open there.
    """
    watch(0.0, "panels")
    tolerance, order = settings.panel_part * rtol, settings.order
    predicted = lambda tail: settings.safety * (tolerance / tail) ** (1.0 / order)
    replica, front, rows, scale = progress.replica, progress.front, progress.rows, progress.scale
    room, edges, length = replica.paths.normals.shape[0], list(progress.edges), progress.length
    known = progress.known
    times, errors = progress.times, progress.errors
    while edges[-1] < span.end - span.shortest / 2.0:
        node = (len(edges) - 1) * order
        if node + order > room:
            raise RoomError(Progress(replica, front, rows, tuple(edges), known, length, scale, times, errors))
        watch((edges[-1] - span.begin) / (span.end - span.begin), f"panels up to time {_time(span, edges):.3g}")
        own = span.resolved(edges[-1], span.next_edge(edges[-1], length, known), order, tolerance)
        block = span.ruler.panels(own, order)
        panel = in_room(replica, block, first=len(edges) - 1)
        tried, rows = advance_blocks((replica, *panel, front), rows)
        count = step_counts(own, span.step)[0]
        tail, scale = _relative_tail(rows, slice(node, node + order), count, replica.setting.tolerance, scale)
        tail = float(of_first_process(replica.mesh, np.array(tail)))
        length = float(own[1] - own[0])
        if tail > tolerance and not (count == order and np.isfinite(tail)):
            if length < settings.shortest * span.end or count == order:
                raise BlowUpError(_time(span, edges))
            length = span.whole(length * np.clip(predicted(tail), *settings.shrink))
            known = known[known <= edges[-1]]
            continue
        front = tried
        edges.append(float(own[1]))
        times = np.concatenate([times, np.asarray(block.times)[0]])
        errors = np.concatenate([errors, _errors(rows, slice(node, node + order))])
        if rests(times, errors):
            break
        length = span.whole(length * np.clip(predicted(max(tail, TINY)), SLOWEST_GROWTH, settings.growth))
    return np.array(edges), read_solution(replica, rows, (len(edges) - 1) * order)


def _time(span: Span, edges: list[float]) -> float:
    return max(float(span.ruler.times(np.array(edges[-1:]))[0]), 0.0)


def _first_length(replica: Replica, span: Span, order: int) -> float:
    """Return the length of the first panel, from the rate of the lazy solution at time 0; the span if it is 0."""
    rate = float(_mean_rate(replica.mesh, replica.site, replica.paths))
    fastest = rate * (1.0 + 1.0 / np.sqrt(float(replica.setting.aspect_ratio))) ** 2
    first = np.array([span.begin, span.begin + span.shortest])
    size = float(span.ruler.sizes_on(first, order)[0, 0])  # of scheduled steps, lengths are in step numbers
    longest = span.end - span.begin
    return span.whole(min(longest, FIRST_RATES / fastest / size) if fastest > 0.0 else longest)


@compiled
def _mean_rate(mesh: Mesh | None, site: Site, paths: Paths) -> Scalar:
    def rate(site: Site, paths: Paths) -> Scalar:
        theta, zero = paths.theta[None], jnp.zeros((1, paths.theta.shape[1]))
        slopes = site.slopes(jnp.zeros(1), theta, zero, paths.root)
        each = jnp.abs(jnp.sum(slopes.A * slopes.C, axis=1)[0])
        if paths.root is None:
            return paths.total(each @ paths.probability)
        # of unequal features the fastest count: few of many may have all of the variance
        mean, square = paths.total((each @ paths.probability, each**2 @ paths.probability))
        return square / jnp.maximum(mean, TINY)

    return on_devices(mesh, rate, site, paths, like=0.0)


def _relative_tail(rows: Any, own: slice, count: float, tolerance: Scalar, scale: Any) -> tuple[float, Any]:
    """Return the larger relative tail of the two errors' roots, infinite if the block did not settle."""
    disagreement = float(np.asarray(rows.disagreement)[own.start])
    with np.errstate(over="ignore", invalid="ignore"):  # of a try that blew up: seen below
        roots = _roots(rows, own)
        sizes = [np.linalg.norm(root, axis=1) for root in roots]
    if not disagreement <= SETTLED_FACTOR * float(tolerance) or not all(np.isfinite(size).all() for size in sizes):
        return np.inf, scale
    scale = [size[0] for size in sizes] if scale is None else scale
    tails = (
        panel_tail(root, count) / max(size.min(), NEGLIGIBLE * first, TINY)
        for root, size, first in zip(roots, sizes, scale, strict=True)
    )
    return max(tails), scale


def _roots(rows: Any, own: slice) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a block whose squared norms are the training and the test error."""
    L, R = np.asarray(rows.L)[: own.stop, : own.stop], np.asarray(rows.R_w)[own, : own.stop]
    return L[own], L[own] + R @ L


def _errors(rows: Any, own: slice) -> np.ndarray:
    return np.stack([np.sum(root**2, axis=1) for root in _roots(rows, own)], axis=1)
