"""Small dense algebra for many paths at once, with paths on the last axis so that each operation is one long vector."""

import jax.numpy as jnp
from jaxtyping import Array, Float


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
    table = jnp.concatenate([matrix, right], axis=1)
    for i in range(n):
        # columns up to i are done with: only what is to the right is carried on
        row = table[i, 1:] / table[i, :1]
        table = (table[:, 1:] - table[:, :1] * row[None]).at[i].set(row)
    return table


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
