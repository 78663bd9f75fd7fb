"""From block to block: one compiled program, of panels or of steps, for a pilot's tries and for whole solves."""

import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float

from ...numerics.blocks import Blocks
from ...numerics.compiling import compiled
from ...numerics.deadline import Deadline
from ...numerics.devices import any_process, put_everywhere, put_here
from ...numerics.kept import MOST_KINDS, Call
from ...numerics.precision import own_settings
from .history import Node
from .panels.block import advance as advance_panel
from .replica import Replica
from .shards import on_devices
from .state import Front, Rows, empty_rows, start_front
from .steps.step import advance_step

SECONDS_AT_ONCE = 0.5
"""Time that one call of the compiled program should take: it cannot be stopped inside."""


def march(
    replica: Replica, blocks: Blocks, observables: int, deadline: Deadline | None = None, seconds: float = 0.0
) -> Rows:
    """Solve all blocks; piece by piece with a deadline, to raise `OutOfTimeError` once it is over.

    ``seconds`` are those that all blocks take, if known: what is short needs no pieces, each of which is a call.
    """
    front, rows = start(replica, observables)
    if deadline is None:
        return advance_blocks((replica, *in_room(replica, blocks), front), rows)[1]
    first, total = 0, blocks.times.shape[0]
    count = _first_piece(total, seconds) if deadline.mesh is None else 1  # processes must make the same calls
    while first < total:
        deadline.check()
        began = time.perf_counter()
        piece = jax.tree.map(lambda x, own=slice(first, first + count): np.asarray(x)[own], blocks)
        front, rows = jax.block_until_ready(advance_blocks((replica, *in_room(replica, piece, first), front), rows))
        first += len(piece.times)
        if not any_process(deadline.mesh, time.perf_counter() - began > SECONDS_AT_ONCE / 2.0):
            count *= 2
    return rows


def _first_piece(total: int, seconds: float) -> int:
    """Return how many blocks of all the first piece has: one, unless it is known that more take a moment only.

    Examples
    --------
    >>> [_first_piece(10, seconds) for seconds in (0.0, 0.1, 1.0, 100.0)]
    [1, 10, 2, 1]
    """
    return min(total, max(1, int(total * SECONDS_AT_ONCE / 2.0 / seconds))) if seconds > 0.0 else 1


# The rows are large and updated in place. The front is not, so that a block can be tried again.
@compiled(donate="all-except-first")
def advance_blocks(fixed: tuple[Replica, Blocks, Node, Node, Front], rows: Rows) -> tuple[Front, Rows]:
    """Solve so many blocks, the first of which is the solve's block number ``first``; see `in_room`.

    A panel that does not settle is the last: what comes after it would cost the most and say nothing.
    """
    return on_devices(fixed[0].mesh, _advance, *fixed, rows, like=(fixed[4], rows))


def in_room(replica: Replica, blocks: Blocks, first: int = 0) -> tuple[Blocks, Node, Node]:
    """Return blocks in arrays with space for more, so that any number takes one program; their first and count."""
    rows = replica.paths.normals.shape[0] // replica.site.outputs
    count, order = blocks.times.shape
    pad = lambda x: put_here(np.pad(np.asarray(x), [(0, rows // order - count)] + [(0, 0)] * (x.ndim - 1)))
    return put_everywhere(replica.mesh, (jax.tree.map(pad, blocks), put_here(first), put_here(count)))


@compiled
def start(replica: Replica, observables: int) -> tuple[Front, Rows]:
    """Return the front at time 0 and rows of which none is reached."""
    begin = lambda replica: _start(replica, observables)
    alone = replace(replica, paths=replace(replica.paths, axis=None))  # its arrays alone tell the kind of result
    return on_devices(replica.mesh, begin, replica, like=jax.eval_shape(lambda: begin(alone)))


@contextmanager
def compiling(replica: Replica, observables: int, blocks: Blocks) -> Iterator[None]:
    """Compile `advance_blocks` beside what is done inside; only the shapes of ``blocks`` count."""
    kind = Call(_advance, ((replica, observables), {}), donate=False)
    if replica.mesh is not None or not _is_new(kind):
        yield
        return
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(_compile, replica, observables, blocks)
        yield
        done.result()


@own_settings()  # settings belong to a thread
def _compile(replica: Replica, observables: int, blocks: Blocks) -> None:
    front, rows = start.blank(replica, observables)
    advance_blocks.ahead((replica, *in_room(replica, blocks), front), rows)


_BEGUN: set[Hashable] = set()
"""Kinds whose programs were asked for in this process."""


def _is_new(kind: Call) -> bool:
    if len(_BEGUN) >= MOST_KINDS:
        _BEGUN.clear()
    new = kind.signature not in _BEGUN
    _BEGUN.add(kind.signature)
    return new


def whole_march(replica: Replica, blocks: Blocks, observables: int) -> Rows:
    """Solve all blocks in one pure function, which can be differentiated forwards and mapped over parameters."""
    # to the end in any case: mapped over parameters, a loop with an end of its own for each copies all rows
    block = _one_block(replica, blocks, jnp.array(0))
    return lax.fori_loop(0, blocks.times.shape[0], block, _start(replica, observables))[1]


def _advance(
    replica: Replica, blocks: Blocks, first: Node, count: Node, front: Front, rows: Rows
) -> tuple[Front, Rows]:
    block = _one_block(replica, blocks, first)
    if replica.iteration is None:
        return lax.fori_loop(0, count, block, (front, rows))
    order, most = blocks.times.shape[1], replica.iteration.settled_factor * replica.setting.tolerance

    def goes_on(carry: tuple[Node, Front, Rows]) -> Bool[Array, ""]:
        index, _, rows = carry
        before = rows.disagreement[jnp.maximum((first + index) * order - 1, 0)]
        return (index < count) & ((first + index == 0) | (before <= most))

    further = lambda carry: (carry[0] + 1, *block(carry[0], carry[1:]))
    return lax.while_loop(goes_on, further, (jnp.zeros_like(count), front, rows))[1:]


def _one_block(
    replica: Replica, blocks: Blocks, first: Node
) -> Callable[[Node, tuple[Front, Rows]], tuple[Front, Rows]]:
    """Return what solves the block with a number, from what is known before it."""
    one, width = advance_step if replica.explicit else advance_panel, blocks.times.shape[1] * replica.site.outputs

    def block(index: Node, carry: tuple[Front, Rows]) -> tuple[Front, Rows]:
        own = jax.tree.map(lambda x: lax.dynamic_index_in_dim(x, index, keepdims=False), blocks)
        return one(replica, own, (first + index) * width, *carry)

    return block


def _start(replica: Replica, observables: int) -> tuple[Front, Rows]:
    initial = None if replica.explicit else _initial_averages(replica)
    merging = replica.merging
    kept, fresh = (None, replica.paths.normals.shape[0]) if merging is None else (merging.rows, merging.noises)
    noises = (1 + fresh * replica.site.flow.noise.on_samples) * (replica.explicit and replica.samples is None)
    kind = {"explicit": replica.explicit, "noises": noises, "initial": initial, "kept": kept}
    outputs = replica.site.outputs if replica.explicit else None
    return start_front(replica.paths, kept, outputs), empty_rows(replica.paths, observables, replica.samples, **kind)


def _initial_averages(replica: Replica) -> Float[Array, "initial"]:
    """Return the averages at time 0 and the test error there, from the paths: exact where moments are matched."""
    site, paths, t = replica.site, replica.paths, jnp.zeros(1)
    theta = paths.theta[None]
    w = site.weight(t, theta, paths.root)
    averages = replica.observe(site, Blocks(t, jnp.zeros((1, 1)), jnp.zeros(1)), theta, w, paths)[0]
    distance = paths.total((w[0] - paths.w_star) ** 2 @ paths.probability)
    return jnp.concatenate([averages, (distance + replica.setting.noise_var)[None]])
