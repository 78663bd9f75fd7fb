"""Products of a block's rows with everything before it: the GEMMs where the time goes.

Arrays have space for all blocks, so the products run over chunks of the history that is really there, with a trip count
known at run time: one compiled program serves every block. Rows of a block must be zero in columns not yet reached,
which `before` sees to.
"""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int

from ...numerics.pathwise import apply_pathwise

CHUNK = 16
"""Nodes per chunk; the number of nodes that arrays have space for is a multiple of it."""
FUSED = 4
"""Rows up to which a product with tangents is a sum that reads them where they are: a GEMM would copy them first."""

SHORT = 128
"""Nodes up to which products run over all of a history: a loop over chunks takes six kernels to compile, this one."""

Node = Int[Array, ""]


def chunks_before(node: Node) -> Int[Array, ""]:
    """Return how many chunks hold the nodes before a node."""
    return (node + CHUNK - 1) // CHUNK


def before(rows: Float[Array, "q N"], node: Node) -> Float[Array, "q N"]:
    """Return the rows with zeros from column ``node`` on."""
    return jnp.where((jnp.arange(rows.shape[1]) < node)[None, :], rows, 0.0)


def with_row(
    every: Float[Array, "steps M"], history: Float[Array, "N M"] | None, step: Node, node: Node, count: int
) -> Float[Array, "N M"]:
    """Return a history with the rows of a step in their place; where it has a row for all steps, ``every`` itself."""
    if history is None:
        return every
    own = lax.dynamic_slice_in_dim(every, step, count, axis=0)
    return lax.dynamic_update_slice_in_dim(history, own, node, axis=0)


def times_history(rows: Float[Array, "q N"], history: Float[Array, "N M"], node: Node) -> Float[Array, "q M"]:
    """``rows @ history`` over the nodes before ``node``."""
    if history.shape[0] <= SHORT:
        return before(rows, node) @ history

    def add(i: Int[Array, ""], total: Float[Array, "q M"]) -> Float[Array, "q M"]:
        left = lax.dynamic_slice_in_dim(rows, i * CHUNK, CHUNK, axis=1)
        return total + left @ lax.dynamic_slice_in_dim(history, i * CHUNK, CHUNK, axis=0)

    return lax.fori_loop(0, chunks_before(node), add, jnp.zeros((rows.shape[0], history.shape[1])))


def onto_history(rows: Float[Array, "q M"], history: Float[Array, "N M"], node: Node) -> Float[Array, "q N"]:
    """``rows @ history.T`` over the nodes before ``node``, zero elsewhere."""
    if history.shape[0] <= SHORT:
        return before((history @ rows.T).T, node)  # the small one is transposed

    def put(i: Int[Array, ""], total: Float[Array, "q N"]) -> Float[Array, "q N"]:
        part = (lax.dynamic_slice_in_dim(history, i * CHUNK, CHUNK, axis=0) @ rows.T).T
        return lax.dynamic_update_slice_in_dim(total, part, i * CHUNK, axis=1)

    total = lax.fori_loop(0, chunks_before(node), put, jnp.zeros((rows.shape[0], history.shape[0])))
    return before(total, node)


def times_all_tangents(
    rows: Float[Array, "q N"], tangents: Float[Array, "N N few"], node: Node
) -> Float[Array, "q N few"]:
    """``rows @ tangents`` for all columns before ``node``, zero elsewhere."""
    room, few = tangents.shape[1:]

    def put(column: Int[Array, ""], total: Float[Array, "q N few"]) -> Float[Array, "q N few"]:
        part = times_tangents(rows, tangents, column, node)
        return lax.dynamic_update_slice_in_dim(total, part, column * CHUNK, axis=1)

    total = lax.fori_loop(0, chunks_before(node), put, jnp.zeros((rows.shape[0], room, few)))
    return jnp.where((jnp.arange(room) < node)[None, :, None], total, 0.0)


def times_tangents(
    rows: Float[Array, "q N"], tangents: Float[Array, "N N few"], column: Int[Array, ""], node: Node
) -> Float[Array, "q chunk few"]:
    """``rows @ tangents`` for one chunk of columns; tangents are causal, so rows of earlier chunks vanish there."""
    q, few = rows.shape[0], tangents.shape[2]

    def add(i: Int[Array, ""], total: Float[Array, "q chunk few"]) -> Float[Array, "q chunk few"]:
        left = lax.dynamic_slice_in_dim(rows, i * CHUNK, CHUNK, axis=1)
        right = lax.dynamic_slice(tangents, (i * CHUNK, column * CHUNK, 0), (CHUNK, CHUNK, few))
        if q <= FUSED:
            return total + apply_pathwise(left[:, :, None], right)
        return total + (left @ right.reshape(CHUNK, CHUNK * few)).reshape(total.shape)

    return lax.fori_loop(column, chunks_before(node), add, jnp.zeros((q, CHUNK, few)))
