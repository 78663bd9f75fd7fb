"""Triangular roots of small covariance matrices that may be singular."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

Square = Float[Array, "n n"]


def singular_root(matrix: Square, tolerance: float = 0.0) -> Square:
    """Return a lower triangular root R, with R R^T the matrix; a row that depends on those before has a pivot of 0.

    ``tolerance`` says which: those that leave no more than this part of their variance.

    Examples
    --------
    >>> singular_root(jnp.ones((2, 2))).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    size = matrix.shape[0]
    rows: list[list[Any]] = []
    for i in range(size):
        row: list[Any] = []
        for j in range(i):
            rest = matrix[i, j] - sum(a * b for a, b in zip(row, rows[j][:j], strict=True))
            row.append(divide(rest, rows[j][j]))
        rest = matrix[i, i] - sum(a * a for a in row)
        # Written so that NaN stays NaN.
        rows.append([*row, jnp.sqrt(jnp.where(rest <= tolerance * matrix[i, i], 0.0, rest))])
    return jnp.stack([jnp.stack([*row, *[jnp.zeros(())] * (size - len(row))]) for row in rows])


def whiten(root: Square, values: Float[Array, "n points"]) -> Float[Array, "n points"]:
    """Return e with root e = values and orthonormal rows; rows without a pivot are 0.

    Examples
    --------
    >>> whiten(jnp.array([[2.0, 0.0], [2.0, 0.0]]), jnp.array([[4.0], [4.0]])).tolist()
    [[2.0], [0.0]]
    """
    rows: list[Array] = []
    for i in range(root.shape[0]):
        rest = values[i] - sum(root[i, j] * rows[j] for j in range(i))
        rows.append(divide(rest, root[i, i]))
    return jnp.stack(rows)


def divide(values: Array, pivot: Array) -> Array:
    """Return values over a pivot, 0 where it is 0."""
    return jnp.where(pivot == 0.0, 0.0, values / jnp.where(pivot == 0.0, 1.0, pivot))
