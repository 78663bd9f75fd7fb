"""One step of gradient descent: both sides are explicit."""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from ....numerics.blocks import Blocks
from ....numerics.pathwise import apply_pathwise
from ..history import Node, before, times_all_tangents, times_history, with_row
from ..merging import merge
from ..replica import Replica
from ..site import Jacobians
from ..state import Front, Rows
from ..stein import scaled_response, step_covariance
from ..weighting import response_weights
from .closed_side import close_outputs
from .sampled_side import centre, sample_outputs


def advance_step(replica: Replica, block: Blocks, step: Node, front: Front, rows: Rows) -> tuple[Front, Rows]:
    """Take one step, whose first row is ``step``; its place in the history is ``node``."""
    merging = replica.merging
    node = step if merging is None else merging.places[step]
    site, setting, paths, t = replica.site, replica.setting, replica.paths, block.times[0]
    few, theta, c = paths.few_probability.shape[0], front.theta, replica.site.outputs
    W = site.weights(t, theta, paths.root) - centre(site, paths)
    A, _, C = site.jacobians(t, theta, jnp.zeros((c, theta.shape[1])), paths.root)
    dW = apply_pathwise(C[..., :few], front.tangent)  # columns before the node
    immediate = jnp.einsum("ckp,kcp->cp", C, A)
    mean = paths.total(jnp.einsum("cnp,cp->cn", dW, response_weights(paths, immediate)))
    R_w = before(-mean / setting.aspect_ratio, node)  # eq. (dmft_Rw)
    R_w = _told_by_all(replica, node, front, rows, immediate, dW, W, R_w)
    out = (close_outputs if replica.samples is None else sample_outputs)(replica, step, node, rows, W, R_w)
    own, past = lax.dynamic_slice_in_dim(out.R_l, node, c, axis=1), before(out.R_l, node)
    normals = with_row(paths.normals, rows.normals, step, node, c)
    z = times_history(out.L, normals, node + c) / jnp.sqrt(setting.aspect_ratio)
    g = z + times_history(past, rows.W, node) + own @ W + out.teacher
    p = site.move(t, theta, g, paths.root)
    response = lax.dynamic_update_slice(rows.response, dW, (node, 0, 0))
    at = site.jacobians(t, theta[:, :few], g[:, :few], paths.few_root)
    tangent = _advance_tangent(at, block.weights[0], node, front.tangent, response, dW, past, own)
    put = lambda whole, part, at=node: lax.dynamic_update_slice_in_dim(whole, part, at, axis=0)
    w = (W + centre(site, paths)).reshape(1, *site.flow.outputs, -1)
    averages = replica.observe(site, block, theta[None], w, paths)[0]
    new = Rows(
        W=put(rows.W, W),
        response=response,
        Q=out.Q,
        R_w=put(rows.R_w, R_w),
        G=put(rows.G, out.R_l),
        L=put(rows.L, out.L),
        overlap=rows.overlap,
        averages=put(rows.averages, jnp.tile(jnp.concatenate([averages, out.averages])[None], (c, 1)), step),
        iterations=put(rows.iterations, jnp.ones(c), step),
        disagreement=put(rows.disagreement, jnp.zeros(c), step),
        noises=out.noises,
        normals=None if merging is None else normals,
        basis=None if rows.basis is None else lax.dynamic_update_slice(rows.basis, jnp.ones((1, 1)), (node, step)),
        samples=out.samples,
    )
    moved = theta + block.weights[0] * p
    if site.flow.noise.temperature is not None:
        kick = lax.dynamic_index_in_dim(paths.kicks, step // c, keepdims=False)
        moved = moved + jnp.sqrt(2.0 * site.flow.noise.temperature * block.weights[0]) * kick
    ahead = Front(moved, p, tangent, z)
    return (ahead, new) if merging is None else merge(merging, paths.total, step, ahead, new)


def _told_by_all(
    replica: Replica,
    node: Node,
    front: Front,
    rows: Rows,
    immediate: Float[Array, "c M"],
    dW: Float[Array, "c N few"],
    W: Float[Array, "c M"],
    R_w: Float[Array, "c N"],
) -> Float[Array, "c N"]:
    """Return the rows of R_w as z of the step before tells them, as far as it does so better."""
    assert front.z is not None
    covariance = step_covariance(rows, node, len(W))
    each = jnp.einsum("cnp,nc->cp", dW, covariance)
    variance = jnp.diagonal(lax.dynamic_slice_in_dim(covariance, node - len(W), len(W))) / replica.setting.aspect_ratio
    return scaled_response(replica.paths, R_w, covariance, each, immediate, W, front.z, variance)


def _advance_tangent(
    at: Jacobians,
    step: Float[Array, ""],
    node: Node,
    tangent: Float[Array, "k N few"],
    response: Float[Array, "N N few"],
    dW: Float[Array, "c N few"],
    past: Float[Array, "c N"],
    own: Float[Array, "c c"],
) -> Float[Array, "k N few"]:
    """Return dtheta after the step: dtheta + step (A dg + B dtheta), dg = 1(s = node) + R_l dW; eq. (gf_dtheta)."""
    place = jnp.arange(past.shape[1])
    here = (place[None] == node + jnp.arange(len(own))[:, None]).astype(float)
    through_own = apply_pathwise(own[:, :, None], dW)
    dg = times_all_tangents(past, response, node) + jnp.where((place < node)[None, :, None], through_own, 0.0)
    dg = dg + here[:, :, None]
    return tangent + step * (apply_pathwise(at.A, dg) + apply_pathwise(at.B, tangent))
