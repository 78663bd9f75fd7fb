"""Means over new samples: Gaussian outputs and a standard normal noise, by Gauss-Hermite sums."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...types import Output, Scalar, Teacher
from .loss import Moments

ORDERS = {2: 40, 3: 22, 4: 14, 5: 9, 6: 7}
"""Nodes a dimension by the number of outputs and teachers together."""
COARSER = 0.75
"""Part of these nodes that a second sum takes, to say how good the first is."""
NOISE_ORDERS = {2: 24}
FEWEST_NOISE = 6
"""Nodes for the noise, by the same number; and where there are more outputs."""


def gaussian_mean(function: Callable[[Output, Teacher, Scalar], Scalar], moments: Moments, part: float = 1.0) -> Scalar:
    """Return E[function(f, f_star, noise)] over Gaussian outputs and a standard normal noise."""
    outputs, teachers = (matrix.shape[: matrix.ndim // 2] for matrix in (moments.student, moments.teacher))
    c, t = int(np.prod(outputs)), int(np.prod(teachers))
    student, teacher = moments.student.reshape(c, c), moments.teacher.reshape(t, t)
    across = moments.overlap.reshape(c, t)
    root = _root(jnp.block([[teacher, across.T], [across, student]]))
    x, weights = _hermite(round(part * ORDERS[c + t]), c + t)
    noise, noise_weights = _hermite(NOISE_ORDERS.get(c + t, FEWEST_NOISE), 1)
    drawn = x @ root.T
    one = lambda row, n: function(row[t:].reshape(outputs), row[:t].reshape(teachers), n)
    values = jax.vmap(jax.vmap(one, (None, 0)), (0, None))(drawn, noise[:, 0])
    return jnp.asarray(weights) @ values @ jnp.asarray(noise_weights)


def _root(matrix: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """Return the lower triangular root of a small matrix that may be singular, as it is at a start from zero."""
    size = matrix.shape[0]
    rows: list[list[Any]] = []
    for i in range(size):
        row: list[Any] = []
        for j in range(i):
            rest = matrix[i, j] - sum(a * b for a, b in zip(row, rows[j][:j], strict=True))
            pivot = rows[j][j]
            row.append(jnp.where(pivot > 0.0, rest / jnp.where(pivot > 0.0, pivot, 1.0), 0.0))
        rest = matrix[i, i] - sum(a * a for a in row)
        rows.append([*row, jnp.sqrt(jnp.maximum(rest, 0.0))])
    return jnp.stack([jnp.stack([*row, *[jnp.zeros(())] * (size - len(row))]) for row in rows])


@lru_cache
def _hermite(order: int, dims: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes (a row each) and weights of a product rule."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(order)
    weights = weights / weights.sum()
    grid = np.stack(np.meshgrid(*[nodes] * dims, indexing="ij"), axis=-1).reshape(-1, dims)
    share = np.prod(np.stack(np.meshgrid(*[weights] * dims, indexing="ij"), axis=-1), axis=-1).ravel()
    return grid, share
