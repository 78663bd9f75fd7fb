"""Paths of the samples side: quasi-random normals with matched moments, the teacher's and the labels' first."""

import jax.numpy as jnp
import numpy as np

from ..numerics.quasirandom import match_moments, sobol_normals
from ..problem.losses import Loss
from .state import SamplePaths

OWN = 2
"""Dimensions before those of the outputs: of the teacher and of the label noise."""


def make_sample_paths(
    loss: Loss, room: int, nodes: int, paths: int, few: int, rng: np.random.Generator, *, half: bool
) -> SamplePaths:
    """Draw the paths for ``nodes`` nodes; with ``half`` half of them, in arrays of the same shape."""
    drawn, kept = (paths // 2, few // 2) if half else (paths, few)
    cloud = match_moments(sobol_normals(drawn, OWN + nodes, rng))
    normals = np.zeros((room, drawn))
    normals[:nodes] = cloud[:, OWN:].T
    fill = lambda x: np.concatenate([x, x], axis=-1) if half else x
    weight = lambda count, whole: np.concatenate([np.full(count, 1.0 / count), np.zeros(whole - count)])
    return SamplePaths(
        normals=jnp.asarray(fill(normals)),
        teacher=jnp.asarray(fill(cloud[:, 0])),
        noise=jnp.asarray(fill(cloud[:, 1])),
        probability=jnp.asarray(weight(drawn, paths)),
        few_probability=jnp.asarray(weight(kept, few)),
        loss=loss,
    )
