"""Paths of the single site: targets stratified, normals quasi-random with matched moments in each stratum.

Dimensions are in the order of importance: the target's Gaussian part, the random initialisation, then the normals
of z along the principal components of an earlier solve. ``rotation`` takes these to the causal normals that the lower
triangular root of C_f multiplies; being orthogonal, it changes the order of importance and not the law.

The leading modes are drawn wider than they are and weighted back: weights, and with them integrands, then fall off in
the tails, which suits quasi-random points, and heavy-tailed readouts get points where they are large.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ...numerics.quasirandom import match_moments, sobol_normals, widen
from ...problem.features import FeatureLaw
from ...problem.laws import Strata, Target
from ..engine.site import Site
from ..engine.state import Paths
from .modes import Rotation, from_modes, mode_count

MAX_STRATA, MAX_FEATURES = 8, 96
"""A target with more atoms is drawn from all its atoms at once: paths go where they matter. Strata of features are told
apart further: few of them may have all of the variance."""

WIDER = (1.3, 1.15)
"""Factors on the leading modes of z."""

Live = tuple[int, ...]
"""Strata of a target that have a probability."""


class Counts(NamedTuple):
    """Paths in each stratum: for correlations, and how many of them also for responses."""

    paths: int
    few: int


class Part(NamedTuple):
    """One of some equal parts of a replica's points, in arrays with space for ``room``: together they are all."""

    number: int
    of: int
    room: Counts

    def places(self, points: int) -> slice:
        """Return which of the points it has.

        Examples
        --------
        >>> Part(1, 4, Counts(2, 1)).places(8)
        slice(2, 4, None)
        """
        return slice(self.number * points // self.of, (self.number + 1) * points // self.of)

    def share(self, counts: Counts) -> Counts:
        """Return how many paths it has."""
        return Counts(*(count // self.of for count in counts))


def live_strata(law: Target) -> Live | None:
    """Return which strata of a target are drawn one by one, or None if there are too many."""
    keep = np.flatnonzero(np.asarray(law.strata().probability) > 0.0)
    most = MAX_FEATURES if isinstance(law, FeatureLaw) else MAX_STRATA
    return None if len(keep) > most else tuple(int(i) for i in keep)


def stratum_count(strata: Live | None) -> int:
    """Return in how many strata paths are drawn."""
    return 1 if strata is None else len(strata)


def crowd(strata: Live | None) -> int:
    """Return by how much each stratum has fewer paths where there are more strata than a target may have."""
    return 1 << (-(-stratum_count(strata) // MAX_STRATA) - 1).bit_length()


class Cloud(NamedTuple):
    """Normals of a replica, a row per path: the target's, the initialisation's, z's in causal order; paths' weights."""

    target: Float[np.ndarray, "paths own"]
    start: Float[np.ndarray, "paths normals"]
    z: Float[np.ndarray, "room paths"]
    kicks: Float[np.ndarray, "_ k paths"]
    weight: Float[np.ndarray, "paths"]


def draw_cloud(
    site: Site,
    law: Target,
    strata: Live | None,
    room: int,
    nodes: int,
    counts: Counts,
    rotation: Rotation | None,
    rng: np.random.Generator,
    *,
    alike: bool = False,
    matched: float = 0.5,
    leading: int | None = None,
    part: Part | None = None,
) -> Cloud:
    """Draw one replica's normals for ``nodes`` nodes in arrays with space for more, in the live strata of the law.

    ``alike``: strata share theirs. ``matched``: at most this many dimensions per path have their moments matched.
    ``leading``: modes that are quasi-random; None for all of them. ``part``: return that part of the points alone.
    """
    extra = site.flow.num_normals
    own = law.draw_normals if strata is None else math.prod(law.shape)
    groups = 1 if strata is None else len(strata)
    wider = {own + extra + i: factor for i, factor in enumerate(WIDER[:nodes])} if rotation is not None else {}
    kicks = nodes * site.parameters * (site.flow.noise.temperature is not None)
    clouds = 1 if alike else groups
    modes = mode_count(nodes, rotation, leading)
    dims = own + extra + modes + kicks * (leading is None)
    places = slice(None) if part is None else part.places(counts.paths)
    drawn = [widen(sobol_normals(counts.paths, dims, rng)[places], wider) for _ in range(clouds)]
    # Strata take turns, so that the first paths are the first of every stratum.
    in_turn = lambda parts: np.repeat(np.stack(parts, axis=1), groups // clouds, axis=1).reshape(
        -1, *parts[0].shape[1:]
    )
    whole = counts.paths * groups
    columns = slice(None) if part is None else part.places(whole)
    draw = lambda rows: rng.standard_normal((rows, whole))[:, columns]
    cloud, weight = in_turn([match_moments(*one, matched) for one in drawn]), in_turn([weight for _, weight in drawn])
    z = np.zeros((room, len(cloud)))
    z[:nodes] = from_modes(cloud[:, own + extra : own + extra + modes].T, nodes, rotation, draw)
    pushed = np.zeros((room if kicks else 0, site.parameters, len(cloud)))
    kicked = cloud[:, own + extra + modes :].T if leading is None else draw(kicks)
    pushed[: kicks // site.parameters] = kicked.reshape(-1, *pushed.shape[1:])
    return Cloud(cloud[:, :own], cloud[:, own : own + extra], z, pushed, weight)


def make_paths(site: Site, law: Target, strata: Live | None, counts: Counts, cloud: Cloud) -> Paths:
    """Turn normals into paths; a function of the model's and the target's numbers that can be differentiated."""
    variances = None
    if strata is None:
        w_star, share = jax.vmap(law.draw, out_axes=-1)(jnp.asarray(cloud.target)), jnp.ones(1)
        if isinstance(law, FeatureLaw):
            variances = jax.vmap(law.draw_variance)(jnp.asarray(cloud.target))
    else:
        kept = Strata(*(x[np.array(strata)] for x in law.strata()))
        share = kept.probability / jnp.sum(kept.probability)
        own = jnp.asarray(cloud.target.T).reshape(*law.shape, -1)
        all_paths = lambda x: jnp.tile(jnp.moveaxis(x, 0, -1), counts.paths)  # strata take turns
        w_star = all_paths(kept.mean) + all_paths(kept.std) * own
        if isinstance(law, FeatureLaw):
            variances = all_paths(law.variances()[np.array(strata)])
    root = None if variances is None else jnp.sqrt(variances)
    weight = jnp.asarray(cloud.weight).reshape(counts.paths, len(share))
    probability = lambda weight: (share[None] * weight / jnp.sum(weight, axis=0, keepdims=True)).reshape(-1)
    return Paths(
        normals=jnp.asarray(cloud.z),
        theta=site.start(jnp.asarray(cloud.start), w_star),
        w_star=w_star if root is None else root * w_star,
        probability=probability(weight),
        few_probability=probability(weight[: counts.few]),
        kicks=jnp.asarray(cloud.kicks),
        root=root,
    )


def with_room(paths: Paths, room: Counts, strata: int) -> Paths:
    """Return paths in larger arrays, repeated and without weight there, so that other numbers of them take one program.

    ``room`` counts paths per stratum, a multiple of those that there are.
    """
    columns, few = (count * strata for count in room)
    fill = lambda x: jnp.tile(x, (1,) * (x.ndim - 1) + (columns // x.shape[-1],))
    pad = lambda x, size: jnp.pad(x, (0, size - len(x)))
    return Paths(
        normals=fill(paths.normals),
        theta=fill(paths.theta),
        w_star=fill(paths.w_star),
        probability=pad(paths.probability, columns),
        few_probability=pad(paths.few_probability, few),
        kicks=fill(paths.kicks),
        root=None if paths.root is None else fill(paths.root),
    )
