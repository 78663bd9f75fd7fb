"""From block to block: one compiled program, called for each."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from ..numerics.blocks import Blocks
from .block import Problem
from .block import advance as advance_closed
from .history import Node
from .sampled_side import advance_sampled
from .state import Front, Rows, empty_rows, start_front


def advance(problem: Problem, block: Blocks, node: Node, front: Front, rows: Rows) -> tuple[Front, Rows]:
    """Solve one block, with the samples side that the loss has."""
    one = advance_closed if problem.samples is None else advance_sampled
    return one(problem, block, node, front, rows)


# The rows are large and updated in place. The front is not, so that a block can be tried again.
@eqx.filter_jit(donate="all-except-first")
def advance_block(fixed: tuple[Problem, Blocks, Node, Front], rows: Rows) -> tuple[Front, Rows]:
    """Solve one block."""
    return advance(*fixed, rows)


def march(problem: Problem, blocks: Blocks, observables: int) -> Rows:
    """Solve all blocks, one call a block."""
    front, rows = start_front(problem.paths), empty_rows(problem.paths, observables, problem.samples)
    count, order = blocks.times.shape
    for index in range(count):
        block = jax.tree.map(lambda x, index=index: x[index], blocks)
        front, rows = advance_block((problem, block, jnp.array(index * order), front), rows)
    return rows


def whole_march(problem: Problem, blocks: Blocks, observables: int) -> Rows:
    """Solve all blocks in one pure function, which can be differentiated forwards and mapped over parameters."""
    order = blocks.times.shape[1]

    def step(carry: tuple[Front, Rows], this: tuple[Blocks, Node]) -> tuple[tuple[Front, Rows], None]:
        return advance(problem, *this, *carry), None

    start = (start_front(problem.paths), empty_rows(problem.paths, observables, problem.samples))
    nodes = order * jnp.arange(blocks.times.shape[0])
    return lax.scan(step, start, (blocks, nodes))[0][1]
