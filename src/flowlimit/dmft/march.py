"""From block to block: one compiled program, called for each."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from ..numerics.blocks import Blocks
from ..numerics.devices import put_everywhere
from .history import Node
from .panels.block import advance as advance_panel
from .problem import Problem
from .shards import on_devices
from .state import Front, Rows, empty_rows, start_front
from .steps.step import advance_step


def advance(problem: Problem, block: Blocks, node: Node, front: Front, rows: Rows) -> tuple[Front, Rows]:
    """Solve one block: a panel or a step."""
    return (advance_step if problem.explicit else advance_panel)(problem, block, node, front, rows)


# The rows are large and updated in place. The front is not, so that a block can be tried again.
@eqx.filter_jit(donate="all-except-first")
def advance_block(fixed: tuple[Problem, Blocks, Node, Front], rows: Rows) -> tuple[Front, Rows]:
    """Solve one block."""
    return on_devices(fixed[0].mesh, advance, *fixed, rows, like=(fixed[3], rows))


def march(problem: Problem, blocks: Blocks, observables: int) -> Rows:
    """Solve all blocks: panels one call each, since they may be tried again, steps in one call."""
    if problem.explicit:
        return march_steps(problem, *in_room(problem, blocks), observables)
    front, rows = start(problem, observables)
    for index in range(blocks.times.shape[0]):
        block, node = jax.tree.map(lambda x, index=index: x[index], blocks), jnp.array(index * blocks.times.shape[1])
        front, rows = advance_block((problem, *put_everywhere(problem.mesh, (block, node)), front), rows)
    return rows


def in_room(problem: Problem, blocks: Blocks) -> tuple[Blocks, Node]:
    """Return steps in arrays with room for more, and how many they are."""
    room = problem.paths.normals.shape[0] // problem.site.outputs
    padded = jax.tree.map(lambda x: jnp.pad(x, [(0, room - len(x))] + [(0, 0)] * (x.ndim - 1)), blocks)
    return put_everywhere(problem.mesh, (padded, jnp.array(blocks.times.shape[0])))


@eqx.filter_jit
def march_steps(problem: Problem, blocks: Blocks, count: Node, observables: int) -> Rows:
    """Take the first ``count`` steps: one program for any number that there is room for."""

    def every(problem: Problem, blocks: Blocks, count: Node) -> Rows:
        def step(index: Node, carry: tuple[Front, Rows]) -> tuple[Front, Rows]:
            block = jax.tree.map(lambda x: lax.dynamic_index_in_dim(x, index, keepdims=False), blocks)
            return advance(problem, block, index * problem.site.outputs, *carry)

        return lax.fori_loop(0, count, step, _start(problem, observables))[1]

    like = jax.eval_shape(lambda: _start(problem, observables))[1]
    return on_devices(problem.mesh, every, problem, blocks, count, like=like)


def whole_march(problem: Problem, blocks: Blocks, observables: int) -> Rows:
    """Solve all blocks in one pure function, which can be differentiated forwards and mapped over parameters."""
    order = blocks.times.shape[1] * problem.site.outputs

    def step(carry: tuple[Front, Rows], this: tuple[Blocks, Node]) -> tuple[tuple[Front, Rows], None]:
        return advance(problem, *this, *carry), None

    nodes = order * jnp.arange(blocks.times.shape[0])
    return lax.scan(step, _start(problem, observables), (blocks, nodes))[0][1]


def start(problem: Problem, observables: int) -> tuple[Front, Rows]:
    """Return the front at time 0 and rows of which none is reached."""
    return _start(problem, observables) if problem.mesh is None else _start_on_devices(problem, observables)


@eqx.filter_jit
def _start_on_devices(problem: Problem, observables: int) -> tuple[Front, Rows]:
    begin = lambda problem: _start(problem, observables)
    return on_devices(problem.mesh, begin, problem, like=jax.eval_shape(lambda: begin(problem)))


def _start(problem: Problem, observables: int) -> tuple[Front, Rows]:
    white = problem.samples is None and problem.site.flow.noise.on_samples
    rows = empty_rows(problem.paths, observables, problem.samples, explicit=problem.explicit, white=white)
    return start_front(problem.paths), rows
