"""Paths of the single site: targets stratified, normals quasi-random with matched moments in each stratum.

The order of dimensions is the order of importance: the target's Gaussian part, the random start, then the normals of z
along the principal components of an earlier solve. ``rotation`` takes these to the causal normals that the lower
triangular root of C_f multiplies; being orthogonal, it changes the order of importance and not the law.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..numerics.quasirandom import match_moments, sobol_normals
from ..problem.laws import DRAW_NORMALS, Law, Strata
from .site import Site
from .state import Paths

MAX_STRATA = 8
"""A target with more atoms is drawn from all its atoms at once: paths go where they matter."""

Rotation = Float[np.ndarray, "nodes nodes"]
Live = tuple[int, ...]
"""Strata of a target that have a probability."""


class Counts(NamedTuple):
    """Paths in each stratum: for correlations, and how many of them also for responses."""

    paths: int
    few: int


def live_strata(law: Law) -> Live | None:
    """Return which strata of a target are drawn one by one, or None if there are too many."""
    keep = np.flatnonzero(np.asarray(law.strata().probability) > 0.0)
    return None if len(keep) > MAX_STRATA else tuple(int(i) for i in keep)


def stratum_count(law: Law) -> int:
    """Return in how many strata paths are drawn."""
    strata = live_strata(law)
    return 1 if strata is None else len(strata)


class Cloud(NamedTuple):
    """One replica's normals, a row a path: the target's own, the start's, and z's in causal order."""

    target: Float[np.ndarray, "paths own"]
    start: Float[np.ndarray, "paths normals"]
    z: Float[np.ndarray, "room paths"]


def draw_cloud(
    site: Site, law: Law, room: int, nodes: int, counts: Counts, rotation: Rotation | None, rng: np.random.Generator
) -> Cloud:
    """Draw one replica's normals for ``nodes`` nodes in arrays with room for more."""
    strata, extra = live_strata(law), site.flow.num_normals
    own = DRAW_NORMALS if strata is None else 1
    groups = 1 if strata is None else len(strata)
    clouds = [match_moments(sobol_normals(counts.paths, own + extra + nodes, rng)) for _ in range(groups)]
    # Strata take turns, so that the first paths are the first of every stratum.
    cloud = np.stack(clouds, axis=1).reshape(counts.paths * groups, -1)
    causal = cloud[:, own + extra :].T
    z = np.zeros((room, causal.shape[1]))
    z[:nodes] = causal if rotation is None else rotation @ causal
    return Cloud(cloud[:, :own], cloud[:, own : own + extra], z)


def make_paths(site: Site, law: Law, strata: Live | None, counts: Counts, cloud: Cloud) -> Paths:
    """Turn normals into paths; a function of the model's and the target's numbers that can be differentiated."""
    if strata is None:
        w_star, share = jax.vmap(law.draw)(jnp.asarray(cloud.target)), jnp.ones(1)
    else:
        kept = Strata(*(x[np.array(strata)] for x in law.strata()))
        share = kept.probability / jnp.sum(kept.probability)
        own = jnp.asarray(cloud.target[:, 0])
        w_star = jnp.tile(kept.mean, counts.paths) + jnp.tile(kept.std, counts.paths) * own
    return Paths(
        normals=jnp.asarray(cloud.z),
        theta=site.start(jnp.asarray(cloud.start), w_star),
        w_star=w_star,
        probability=jnp.tile(share / counts.paths, counts.paths),
        few_probability=jnp.tile(share / counts.few, counts.few),
    )


def doubled_room(paths: Paths) -> Paths:
    """Return the paths in arrays of twice their number, the second half with no weight: half the paths, one program."""
    twice = lambda x: jnp.concatenate([x, x], axis=-1)
    half = lambda x: jnp.concatenate([x, jnp.zeros_like(x)])
    return Paths(
        normals=twice(paths.normals),
        theta=twice(paths.theta),
        w_star=twice(paths.w_star),
        probability=half(paths.probability),
        few_probability=half(paths.few_probability),
    )


def principal_rotation(F: Float[np.ndarray, "nodes columns"], weights: Float[np.ndarray, "nodes"]) -> Rotation:
    """Return V such that the columns of L V are the modes of z by falling variance in L2(dt), for F F^T = L L^T."""
    L = (
        np.asarray(np.linalg.qr(F.T, mode="r")).T
        if F.shape[0] <= F.shape[1]
        else np.pad(F, ((0, 0), (0, F.shape[0] - F.shape[1])))
    )
    L = L * np.where(np.diagonal(L) < 0.0, -1.0, 1.0)
    return np.linalg.svd(np.sqrt(weights)[:, None] * L)[2].T
