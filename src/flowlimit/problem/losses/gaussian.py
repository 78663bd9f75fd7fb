"""Means over new samples: Gaussian outputs and a standard normal noise, by Gauss-Hermite sums."""

from collections.abc import Callable
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np

from ...numerics.singular_root import singular_root
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
    root = singular_root(jnp.block([[teacher, across.T], [across, student]]))
    x, weights = _hermite(round(part * ORDERS[c + t]), c + t)
    noise, noise_weights = _hermite(NOISE_ORDERS.get(c + t, FEWEST_NOISE), 1)
    drawn = x @ root.T
    one = lambda row, n: function(row[t:].reshape(outputs), row[:t].reshape(teachers), n)
    values = jax.vmap(jax.vmap(one, (None, 0)), (0, None))(drawn, noise[:, 0])
    return jnp.asarray(weights) @ values @ jnp.asarray(noise_weights)


@lru_cache
def _hermite(order: int, dims: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes (a row each) and weights of a product rule."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(order)
    weights = weights / weights.sum()
    grid = np.stack(np.meshgrid(*[nodes] * dims, indexing="ij"), axis=-1).reshape(-1, dims)
    share = np.prod(np.stack(np.meshgrid(*[weights] * dims, indexing="ij"), axis=-1), axis=-1).ravel()
    return grid, share
