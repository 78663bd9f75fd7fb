"""Small dense algebra for many paths at once, with paths on the last axis so that each operation is one long vector."""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int


def solve_pathwise(
    matrix: Float[Array, "n n paths"], right: Float[Array, "n columns paths"]
) -> Float[Array, "n columns paths"]:
    """Solve one linear system per path, by Gauss-Jordan elimination without pivoting.

    The matrices here are I + S K with S a collocation operator, whose leading minors do not vanish: pivoting would cost
    more than it saves. LAPACK a path, or XLA's batched triangular solve, are several times slower.

    Examples
    --------
    >>> matrix = jnp.array([[2.0, 1.0], [0.0, 4.0]])[:, :, None]
    >>> solve_pathwise(matrix, jnp.array([[5.0], [8.0]])[:, :, None])[:, 0, 0].tolist()
    [1.5, 2.0]
    """
    n = matrix.shape[0]

    def eliminate(i: Int[Array, ""], table: Float[Array, "n all paths"]) -> Float[Array, "n all paths"]:
        row = lax.dynamic_index_in_dim(table, i, axis=0)
        row = row / lax.dynamic_index_in_dim(row, i, axis=1)
        own = (jnp.arange(n) == i)[:, None, None]
        return jnp.where(own, row, table - lax.dynamic_index_in_dim(table, i, axis=1) * row)

    # a loop, though it carries columns on that are done with: written out, its compilation costs more than that. Two
    # steps at a time, as each needs a table besides its own: one alone would copy it back
    return lax.fori_loop(0, n, eliminate, jnp.concatenate([matrix, right], axis=1), unroll=2)[:, n:]


def apply_pathwise(
    matrix: Float[Array, "*rows n #paths"], vectors: Float[Array, "n columns paths"]
) -> Float[Array, "*rows columns paths"]:
    """Multiply by one small matrix per path, as a fused sum of n terms: reductions and batched products are far slower.

    Examples
    --------
    >>> matrix = jnp.array([[2.0, 1.0], [0.0, 4.0]])[:, :, None]
    >>> apply_pathwise(matrix, jnp.array([[1.5], [2.0]])[:, :, None])[:, 0, 0].tolist()
    [5.0, 8.0]
    """
    every_row = vectors.reshape(len(vectors), *[1] * (matrix.ndim - 2), *vectors.shape[1:])
    terms = (matrix[..., m, None, :] * every_row[m] for m in range(len(vectors)))
    return sum(terms, start=jnp.zeros((*matrix.shape[:-2], *vectors.shape[1:])))
