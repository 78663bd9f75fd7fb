"""A stochastic samples side, for any loss, on a clock that runs in steps.

Outputs f are paths like weights w: with W = w - w* of covariance C_w, jointly with the teacher,

    f = f* + u - R_w l(f),     u ~ N(0, C_w),     R_l = E[dl/du],     C_l = E[l l^T],          eq. (gf_f), (gf_dl)
    g = z/delta + R_l W + r w*,     z ~ N(0, delta C_l),     r = (E[l f*] - R_l E[W w*])/rho^2.

The last term is what the teacher does besides acting through W: 0 for losses of f - f*, and by Stein's lemma one number
a step otherwise, which also serves labels that jump, like signs. R_w has the paper's sign, R_l is its I - R_f.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float

from ..numerics.blocks import Blocks
from ..problem.losses import Moments
from ..types import Scalar
from .block import Problem
from .history import Node, before, times_all_tangents, times_history
from .samples_side import Root, root_rows
from .state import Front, Rows, SamplePaths, SampleRows


class Outputs(eqx.Module):
    """One step of the samples side: l, its response R_l and root L, averages, and what is kept of it."""

    R_l: Float[Array, "1 N"]
    L: Float[Array, "1 N"]
    teacher: Scalar
    averages: Float[Array, "1 3"]
    kept: SampleRows


def advance_sampled(problem: Problem, block: Blocks, node: Node, front: Front, rows: Rows) -> tuple[Front, Rows]:
    """Take one step; both sides are explicit."""
    site, setting, paths = problem.site, problem.setting, problem.paths
    few = paths.few_probability.shape[0]
    theta = front.theta[None]
    W = site.weight(block.times, theta) - paths.w_star[None]
    slopes = site.slopes(block.times, theta[..., :few], jnp.zeros((1, few)))
    dW = jnp.sum(slopes.C[0][:, None, :] * front.tangent, axis=0)  # N few, columns before the node
    R_w = before(-(dW @ paths.few_probability)[None] / setting.aspect_ratio, node)  # eq. (dmft_Rw)
    out = _outputs(problem, node, rows, W, R_w)
    z = times_history(out.L, paths.normals, node + 1) / jnp.sqrt(setting.aspect_ratio)
    own = lax.dynamic_slice_in_dim(out.R_l, node, 1, axis=1)
    past = before(out.R_l, node)
    g = z + times_history(past, rows.W, node) + own * W + out.teacher * paths.w_star[None]
    p = site.drift(block.times, theta, g)
    response = lax.dynamic_update_slice(rows.response, dW[None], (node, 0, 0))
    tangent = _advance_tangent(problem, block, node, front, response, theta, g, past, own)
    put = lambda whole, part: lax.dynamic_update_slice_in_dim(whole, part, node, axis=0)
    averages = problem.observe(site, block, theta, W, paths)
    new = Rows(
        W=put(rows.W, W),
        response=response,
        Q=rows.Q,
        R_w=put(rows.R_w, R_w),
        G=put(rows.G, out.R_l),
        L=put(rows.L, out.L),
        overlap=rows.overlap,
        averages=put(rows.averages, jnp.concatenate([averages, out.averages], axis=1)),
        iterations=put(rows.iterations, jnp.ones(1)),
        disagreement=put(rows.disagreement, jnp.zeros(1)),
        samples=out.kept,
    )
    return Front(front.theta + block.weights[0] * p[0], p[0], tangent), new


def _outputs(problem: Problem, node: Node, rows: Rows, W: Float[Array, "1 M"], R_w: Float[Array, "1 N"]) -> Outputs:
    assert problem.samples is not None
    assert rows.samples is not None
    setting, known, own = problem.setting, rows.samples, problem.samples
    rho = jnp.sqrt(problem.paths.probability @ problem.paths.w_star**2)
    root_p = jnp.sqrt(problem.paths.probability)
    star = problem.paths.w_star * root_p / rho
    along = W[0] @ (root_p * star)  # E[W w*]/rho
    root_w = _root(W * root_p[None] - along * star[None], known.Q_w, node, setting.tolerance, rho)
    f_star = rho * own.teacher
    f = f_star + along * own.teacher + times_history(root_w.L, own.normals, node + 1)[0]
    f = f - times_history(R_w, known.residuals, node)[0]
    loss = own.loss
    residual = jax.vmap(jax.value_and_grad(loss.residual))
    residuals, slope = residual(f, f_star, own.noise)
    dl = _output_tangent(own, known, node, R_w, slope)
    R_l = (dl @ own.few_probability)[None]
    every = lax.dynamic_update_slice_in_dim(known.along, along[None], node, axis=0)
    root_l = _root(residuals[None] * jnp.sqrt(own.probability)[None], known.Q_l, node, setting.tolerance, rho)
    put = lambda whole, part: lax.dynamic_update_slice_in_dim(whole, part, node, axis=0)
    kept = SampleRows(
        residuals=put(known.residuals, residuals[None]),
        response=lax.dynamic_update_slice(known.response, dl[None], (node, 0, 0)),
        Q_l=put(known.Q_l, root_l.Q),
        Q_w=put(known.Q_w, root_w.Q),
        L_w=put(known.L_w, root_w.L),
        along=every,
    )
    mean = lambda function: jax.vmap(function)(f, f_star, own.noise) @ own.probability
    averages = jnp.stack([mean(loss.error), loss.test_error(_moments(problem, W[0]), jnp.zeros(())), mean(loss.loss)])
    teacher = jnp.zeros(()) if loss.is_difference else _teacher(own, residuals, f_star, R_l[0], every, rho, node)
    return Outputs(R_l, root_l.L, teacher, averages[None], kept)


def _moments(problem: Problem, W: Float[Array, "M"]) -> Moments:
    paths = problem.paths
    w, mean = W + paths.w_star, lambda x: x @ paths.probability
    return Moments(mean(w**2), mean(w * paths.w_star), mean(paths.w_star**2), mean(W**2))


def _root(F: Float[Array, "1 M"], Q: Float[Array, "N M"], node: Node, tolerance: Scalar, scale: Scalar) -> Root:
    free: Bool[Array, "1"] = jnp.zeros(1, dtype=bool)
    return root_rows(F, Q, node, scale, tolerance, free[0], free)


def _output_tangent(
    own: SamplePaths, known: SampleRows, node: Node, R_w: Float[Array, "1 N"], slope: Float[Array, "Ms"]
) -> Float[Array, "N few"]:
    """Return dl/du(s) = l' (1(s = node) - R_w dl_before); eq. (gf_dl), (gf_df)."""
    slope = slope[None, : own.few_probability.shape[0]]
    past = -slope * times_all_tangents(R_w, known.response, node)
    return lax.dynamic_update_slice_in_dim(past, slope, node, axis=0)


def _teacher(
    own: SamplePaths,
    residuals: Float[Array, "Ms"],
    f_star: Float[Array, "Ms"],
    R_l: Float[Array, "N"],
    along: Float[Array, "N"],
    rho: Scalar,
    node: Node,
) -> Scalar:
    """Return r by Stein's lemma; ``along`` is E[W w*]/rho."""
    reached = jnp.where(jnp.arange(len(R_l)) <= node, R_l, 0.0)
    return ((residuals * f_star) @ own.probability / rho - reached @ along) / rho


def _advance_tangent(
    problem: Problem,
    block: Blocks,
    node: Node,
    front: Front,
    response: Float[Array, "N N few"],
    theta: Float[Array, "1 k M"],
    g: Float[Array, "1 M"],
    past: Float[Array, "1 N"],
    own: Float[Array, "1 1"],
) -> Float[Array, "k N few"]:
    """Return dtheta after the step: dtheta + step (A dg + B dtheta), dg = 1(s = node) + R_l dW; eq. (gf_dtheta)."""
    few, room = problem.paths.few_probability.shape[0], past.shape[1]
    slopes = problem.site.slopes(block.times, theta[..., :few], g[:, :few])
    A, B = slopes.A[0], slopes.B[0]
    step = block.weights[0]
    dW = lax.dynamic_index_in_dim(response, node, axis=0, keepdims=False)
    place = jnp.arange(room)[:, None]
    dg = times_all_tangents(past, response, node) + jnp.where(place < node, own[0, 0] * dW, 0.0) + (place == node)
    moved = A[:, None, :] * dg[None] + jnp.sum(B[:, :, None, :] * front.tangent[None], axis=1)
    return front.tangent + step * moved
