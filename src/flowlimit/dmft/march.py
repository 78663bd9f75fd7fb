"""From block to block: one compiled program, called for each."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from ..numerics.blocks import Blocks
from .history import Node
from .panels.block import advance as advance_panel
from .problem import Problem
from .state import Front, Rows, empty_rows, start_front
from .steps.step import advance_step


def advance(problem: Problem, block: Blocks, node: Node, front: Front, rows: Rows) -> tuple[Front, Rows]:
    """Solve one block: a panel or a step."""
    return (advance_step if problem.explicit else advance_panel)(problem, block, node, front, rows)


# The rows are large and updated in place. The front is not, so that a block can be tried again.
@eqx.filter_jit(donate="all-except-first")
def advance_block(fixed: tuple[Problem, Blocks, Node, Front], rows: Rows) -> tuple[Front, Rows]:
    """Solve one block."""
    return advance(*fixed, rows)


def march(problem: Problem, blocks: Blocks, observables: int) -> Rows:
    """Solve all blocks: panels one call each, since they may be tried again, steps in one call."""
    if problem.explicit:
        room = problem.paths.normals.shape[0] // problem.site.outputs
        padded = jax.tree.map(lambda x: jnp.pad(x, [(0, room - len(x))] + [(0, 0)] * (x.ndim - 1)), blocks)
        return _march_steps(problem, padded, jnp.array(blocks.times.shape[0]), observables)
    front, rows = _start(problem, observables)
    for index in range(blocks.times.shape[0]):
        block = jax.tree.map(lambda x, index=index: x[index], blocks)
        front, rows = advance_block((problem, block, jnp.array(index * blocks.times.shape[1]), front), rows)
    return rows


@eqx.filter_jit
def _march_steps(problem: Problem, blocks: Blocks, count: Node, observables: int) -> Rows:
    """Take the first ``count`` steps: one program for any number that there is room for."""

    def step(index: Node, carry: tuple[Front, Rows]) -> tuple[Front, Rows]:
        block = jax.tree.map(lambda x: lax.dynamic_index_in_dim(x, index, keepdims=False), blocks)
        return advance(problem, block, index * problem.site.outputs, *carry)

    return lax.fori_loop(0, count, step, _start(problem, observables))[1]


def whole_march(problem: Problem, blocks: Blocks, observables: int) -> Rows:
    """Solve all blocks in one pure function, which can be differentiated forwards and mapped over parameters."""
    order = blocks.times.shape[1] * problem.site.outputs

    def step(carry: tuple[Front, Rows], this: tuple[Blocks, Node]) -> tuple[tuple[Front, Rows], None]:
        return advance(problem, *this, *carry), None

    nodes = order * jnp.arange(blocks.times.shape[0])
    return lax.scan(step, _start(problem, observables), (blocks, nodes))[0][1]


def _start(problem: Problem, observables: int) -> tuple[Front, Rows]:
    white = problem.samples is None and problem.site.flow.noise.on_samples
    rows = empty_rows(problem.paths, observables, problem.samples, explicit=problem.explicit, white=white)
    return start_front(problem.paths), rows
