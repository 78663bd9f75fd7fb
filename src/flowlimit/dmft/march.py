"""From block to block: one compiled program, of panels or of steps, for a pilot's tries and for whole solves."""

import time
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from ..numerics.blocks import Blocks
from ..numerics.deadline import Deadline
from ..numerics.devices import any_process, put_everywhere
from .history import Node
from .panels.block import advance as advance_panel
from .problem import Problem
from .shards import on_devices
from .state import Front, Rows, empty_rows, start_front
from .steps.step import advance_step

SECONDS_AT_ONCE = 0.5
"""Time that one call of the compiled program should take where there is a deadline: it cannot be stopped inside."""


def march(problem: Problem, blocks: Blocks, observables: int, deadline: Deadline | None = None) -> Rows:
    """Solve all blocks; raise `OutOfTimeError` once a deadline is over."""
    front, rows = start(problem, observables)
    if deadline is None or deadline.limit is None:
        return advance_blocks((problem, *in_room(problem, blocks), front), rows)[1]
    first, count, total = 0, 1, blocks.times.shape[0]
    while first < total:
        deadline.check()
        began = time.perf_counter()
        piece = jax.tree.map(lambda x, own=slice(first, first + count): np.asarray(x)[own], blocks)
        front, rows = jax.block_until_ready(advance_blocks((problem, *in_room(problem, piece, first), front), rows))
        first += len(piece.times)
        if not any_process(deadline.mesh, time.perf_counter() - began > SECONDS_AT_ONCE / 2.0):
            count *= 2
    return rows


# The rows are large and updated in place. The front is not, so that a block can be tried again.
@eqx.filter_jit(donate="all-except-first")
def advance_blocks(fixed: tuple[Problem, Blocks, Node, Node, Front], rows: Rows) -> tuple[Front, Rows]:
    """Solve so many blocks, the first of which is the solve's block number ``first``; see `in_room`."""
    return on_devices(fixed[0].mesh, _advance, *fixed, rows, like=(fixed[4], rows))


def in_room(problem: Problem, blocks: Blocks, first: int = 0) -> tuple[Blocks, Node, Node]:
    """Return blocks in arrays with room for more, so that any number takes one program; their first and their count."""
    rows = problem.paths.normals.shape[0] // problem.site.outputs
    count, order = blocks.times.shape
    pad = lambda x: jnp.asarray(np.pad(np.asarray(x), [(0, rows // order - count)] + [(0, 0)] * (x.ndim - 1)))
    return put_everywhere(problem.mesh, (jax.tree.map(pad, blocks), jnp.array(first), jnp.array(count)))


@eqx.filter_jit
def start(problem: Problem, observables: int) -> tuple[Front, Rows]:
    """Return the front at time 0 and rows of which none is reached."""
    begin = lambda problem: _start(problem, observables)
    alone = replace(problem, paths=replace(problem.paths, axis=None))  # its arrays alone tell the kind of result
    return on_devices(problem.mesh, begin, problem, like=jax.eval_shape(lambda: begin(alone)))


def whole_march(problem: Problem, blocks: Blocks, observables: int) -> Rows:
    """Solve all blocks in one pure function, which can be differentiated forwards and mapped over parameters."""
    first, count = jnp.array(0), jnp.array(blocks.times.shape[0])
    return _advance(problem, blocks, first, count, *_start(problem, observables))[1]


def _advance(
    problem: Problem, blocks: Blocks, first: Node, count: Node, front: Front, rows: Rows
) -> tuple[Front, Rows]:
    one, width = advance_step if problem.explicit else advance_panel, blocks.times.shape[1] * problem.site.outputs

    def block(index: Node, carry: tuple[Front, Rows]) -> tuple[Front, Rows]:
        own = jax.tree.map(lambda x: lax.dynamic_index_in_dim(x, index, keepdims=False), blocks)
        return one(problem, own, (first + index) * width, *carry)

    return lax.fori_loop(0, count, block, (front, rows))


def _start(problem: Problem, observables: int) -> tuple[Front, Rows]:
    white = problem.samples is None and problem.site.flow.noise.on_samples
    initial = None if problem.explicit else _initial_averages(problem)
    kind = {"explicit": problem.explicit, "white": white, "initial": initial}
    return start_front(problem.paths), empty_rows(problem.paths, observables, problem.samples, **kind)


def _initial_averages(problem: Problem) -> Float[Array, "initial"]:
    """Return the averages at time 0 and the test error there, from the paths: exact where moments are matched."""
    site, paths, t = problem.site, problem.paths, jnp.zeros(1)
    theta = paths.theta[None]
    w = site.weight(t, theta)
    averages = problem.observe(site, Blocks(t, jnp.zeros((1, 1)), jnp.zeros(1)), theta, w, paths)[0]
    distance = paths.total((w[0] - paths.w_star) ** 2 @ paths.probability)
    return jnp.concatenate([averages, (distance + problem.setting.noise_var)[None]])
