"""Responses at late times by Stein's lemma, where paths tell them badly.

Late in training a coordinate is active or not, and so is its response: its average is a share of few paths, with the
noise of a share. What the response does to z itself is known a second way, from all paths and without a derivative:

    E[w(t) z(t)] = sum over s of E[dw(t)/dz(s)] E[z(s) z(t)].

Rows of R_w are multiplied by what makes both sides equal, as far as the second way is the better one. Both have an
error that the paths tell: what is left of the responses, and of w z, once all is taken out whose averages are matched.
Early, and where all coordinates respond alike, it is the paths' responses that are better, by far.
"""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from .history import Node
from .samples_side import Root
from .state import Paths, Rows
from .weighting import residual, response_features

POWER = 4
"""Of the ratio of errors in the share of the lemma: quasi-random points lessen the other error more than it tells."""
LEAST = 1e-5
"""Relative error that the lemma is taken to have at least: where all paths are alike, rounding would decide."""
MOST = 0.5
"""Bound on the change of a row."""


def own_covariance(rows: Rows, root: Root, node: Node) -> Float[Array, "N q"]:
    """Return C_f at all nodes so far with the block's: delta times the covariance of z/delta."""
    L = lax.dynamic_update_slice_in_dim(rows.L, root.L, node, axis=0)
    return _covariance(L, root.L, node + len(root.L))


def step_covariance(rows: Rows, node: Node, outputs: int) -> Float[Array, "N c"]:
    """Return C_f at all steps so far with the last of them; before the first one there is none."""
    return _covariance(rows.L, lax.dynamic_slice_in_dim(rows.L, jnp.maximum(node - outputs, 0), outputs), node)


def _covariance(L: Float[Array, "N N"], last: Float[Array, "q N"], end: Node) -> Float[Array, "N q"]:
    return jnp.where((jnp.arange(len(L)) < end)[:, None], L @ last.T, 0.0)


def scaled_response(
    paths: Paths,
    R: Float[Array, "q N"],
    covariance: Float[Array, "N q"],
    each: Float[Array, "q few"],
    immediate: Float[Array, "q M"],
    W: Float[Array, "q M"],
    z: Float[Array, "q M"],
    variance: Float[Array, "q"],
) -> Float[Array, "q N"]:
    """Return the rows of R_w as Stein's lemma has them, as far as that is better known.

    ``each``: a path's response to a source that goes like z of the block's last node; ``z``: z/delta of all paths,
    with the variance that it is to have.
    """
    seen = paths.total((W * z) @ paths.probability)
    told = -jnp.sum(R * covariance.T, axis=1)  # R_w = -E[dw/dz'] / delta, and E[z' z'] = covariance / delta
    error, size = _path_error(paths, each, immediate)
    of_paths = error * jnp.abs(seen)
    of_lemma = (_lemma_error(paths, W, z, variance) + LEAST * jnp.abs(seen)) * jnp.abs(size)
    better = of_paths > 0.0
    share = jnp.where(better, 1.0 / (1.0 + (of_lemma / jnp.where(better, of_paths, 1.0)) ** POWER), 0.0)
    known = jnp.abs(told) > jnp.finfo(R.dtype).tiny
    change = jnp.clip(jnp.where(known, seen / jnp.where(known, told, 1.0) - 1.0, 0.0), -MOST, MOST)
    return R * (1.0 + lax.stop_gradient(share) * change)[:, None]


def _lemma_error(
    paths: Paths, W: Float[Array, "q M"], z: Float[Array, "q M"], variance: Float[Array, "q"]
) -> Float[Array, "q"]:
    """Return the errors of E[w z]: of what is not linear in z, told by the few, and of moments that are not matched."""
    every, few = paths.probability, paths.few_probability
    own_W, own_z, targets = (x[..., : len(few)] for x in (W, z, paths.w_star.reshape(-1, z.shape[1])))
    wide = [jnp.broadcast_to(target[None], own_z.shape) for target in targets]
    features = jnp.stack([jnp.ones_like(own_z), own_z, *wide, *(target * own_z for target in wide)])
    rest = residual(features, own_W, few, paths.total)
    square, size, of_few, seen, own = paths.total(
        ((rest * own_z) ** 2 @ few**2, every @ every, few @ few, (W * z) @ every, z**2 @ every)
    )
    known = variance > 0.0
    unmatched = jnp.where(known, own / jnp.where(known, variance, 1.0) - 1.0, 0.0)
    return jnp.sqrt(square * size / of_few) + jnp.abs(unmatched * seen)


def _path_error(
    paths: Paths, each: Float[Array, "q few"], immediate: Float[Array, "q M"]
) -> tuple[Float[Array, "q"], Float[Array, "q"]]:
    """Return the standard errors of the average responses, of paths with weights, and the averages."""
    few = paths.few_probability
    features = response_features(paths, immediate)[..., : len(few)]
    rest = residual(features, each, few, paths.total)
    square, size = paths.total((rest**2 @ few**2, each @ few))
    return jnp.sqrt(square), size
