"""A stochastic samples side, for any loss, on a clock that runs in steps.

Outputs f are paths like weights w: with W = w - w* of covariance C_w, jointly with the teacher,

    f = f* + u - R_w l(f),     u ~ N(0, C_w),     R_l = E[dl/du],     C_l = E[l l^T],          eq. (gf_f), (gf_dl)
    g = z/delta + R_l W + r w*,     z ~ N(0, delta C_l),     r = (E[l f*^T] - R_l E[W w*^T]) E[w* w*^T]^-1.

The last term is what the teacher does besides acting through W: 0 for losses of f - f*, and by Stein's lemma one number
per step otherwise, which also serves labels that jump, like signs. R_w has the paper's sign, R_l is its I - R_f. With c
outputs every step has c rows, one an output; where their number differs from the teachers', W is w itself.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float

from ....numerics.pathwise import apply_pathwise
from ....numerics.singular_root import singular_root, whiten
from ....problem.losses import moments_of
from ....types import Output, Scalar
from ..history import Node, times_all_tangents, times_history, with_row
from ..replica import Replica
from ..samples_side import Root, root_rows
from ..site import Site
from ..state import Paths, Rows, SamplePaths, SampleRows, Total
from .outputs import Outputs

DEPENDENT = 1e-12
"""A teacher that leaves no more than this part of its variance is a combination of those before it, up to rounding."""


class Teachers(eqx.Module):
    """Orthonormal combinations e of the targets, w* = root e."""

    root: Float[Array, "teachers teachers"]
    e: Float[Array, "teachers M"]

    @property
    def scale(self) -> Scalar:
        """Root of E[|w*|^2]."""
        return jnp.sqrt(jnp.sum(self.root**2))


def teachers_of(paths: Paths) -> Teachers:
    """Orthonormalise the targets; those that vanish, or depend on the ones before them, add a combination of 0."""
    star = paths.w_star.reshape(-1, paths.w_star.shape[-1])
    root = singular_root(paths.total((star * paths.probability[None]) @ star.T), DEPENDENT)
    return Teachers(root, whiten(root, star))


def centre(site: Site, paths: Paths) -> Float[Array, "c M"]:
    """Return what weights are measured from: the targets, if there is one an output."""
    if site.flow.outputs == site.flow.teachers:
        return paths.w_star.reshape(site.outputs, -1)
    return jnp.zeros((site.outputs, paths.w_star.shape[-1]))


def sample_outputs(
    replica: Replica, step: Node, node: Node, rows: Rows, W: Float[Array, "c M"], R_w: Float[Array, "c N"]
) -> Outputs:
    """Take one step of the samples side; its first row is ``step``, with place ``node`` in the history."""
    assert replica.samples is not None
    assert rows.samples is not None
    own, known, paths, flow = replica.samples, rows.samples, replica.paths, replica.site.flow
    teachers, root_p, c = teachers_of(paths), jnp.sqrt(paths.probability)[None], W.shape[0]
    tolerance = replica.setting.tolerance
    along = paths.total((W * root_p) @ (teachers.e * root_p).T)
    across = (W - along @ teachers.e) * root_p
    root_w = _root(across, known.Q_w, node, tolerance, teachers.scale, paths.total)
    f_star = teachers.root @ own.teacher
    normals = with_row(own.normals, known.normals, step, node, c)
    f = along @ own.teacher + times_history(root_w.L, normals, node + c) - times_history(R_w, known.residuals, node)
    f = f + f_star if flow.outputs == flow.teachers else f
    sample = lambda function: lambda f, s, n: function(f.reshape(flow.outputs), s.reshape(flow.teachers), n)
    each = lambda function: jax.vmap(sample(function), in_axes=-1, out_axes=-1)(f, f_star, own.noise)
    residuals, slope = each(flow.loss.residual).reshape(f.shape), _slope(replica, f, f_star)
    if own.masks.shape[0]:
        mask = lax.dynamic_index_in_dim(own.masks, step // c, keepdims=False)
        residuals, slope = residuals * mask[None], slope * mask[None, None, : slope.shape[-1]]
    dl = _output_tangent(own, known, node, R_w, slope)
    R_l = own.total(dl @ own.few_probability)
    F = residuals * jnp.sqrt(own.probability)[None]
    root_l = _root(F, known.Q_l, node, tolerance, teachers.scale, own.total)
    put = lambda whole, part: lax.dynamic_update_slice_in_dim(whole, part, node, axis=0)
    every = put(known.along, along)
    stein = jnp.zeros_like(along) if flow.loss.is_difference else _stein(own, residuals, R_l, every, node + c)
    kept = SampleRows(
        residuals=put(known.residuals, residuals),
        response=lax.dynamic_update_slice(known.response, dl, (node, 0, 0)),
        Q_l=put(known.Q_l, root_l.Q),
        Q_w=put(known.Q_w, root_w.Q),
        L_w=put(known.L_w, root_w.L),
        along=every,
        stein=put(known.stein, stein) if known.normals is None else known.stein,
        normals=None if known.normals is None else normals,
    )
    w = (W + centre(replica.site, paths)).reshape(*flow.outputs, -1)
    moments = paths.total(moments_of(w, paths.w_star, paths.probability))
    test, bar = flow.loss.test_error(moments, jnp.zeros(())), flow.loss.test_error_bar(moments)
    error, loss = own.total([each(function) @ own.probability for function in (flow.loss.error, flow.loss.loss)])
    averages = jnp.stack([error, test, loss, bar])
    return Outputs(R_l, root_l.L, stein @ teachers.e, averages, rows.Q, rows.noises, kept)


def _root(
    F: Float[Array, "c M"], Q: Float[Array, "N M"], node: Node, tolerance: Scalar, scale: Scalar, total: Total
) -> Root:
    free: Bool[Array, "c"] = jnp.zeros(F.shape[0], dtype=bool)
    return root_rows(F, Q, node, scale, tolerance, free[0], free, total)


def _slope(replica: Replica, f: Float[Array, "c Ms"], f_star: Float[Array, "teachers Ms"]) -> Float[Array, "c c few"]:
    """Return dl/df on the paths that serve the responses."""
    assert replica.samples is not None
    flow, few = replica.site.flow, replica.samples.few_probability.shape[0]

    def one(f: Output, f_star: Float[Array, "teachers"], noise: Scalar) -> Float[Array, "c c"]:
        l = lambda f: flow.loss.residual(f.reshape(flow.outputs), f_star.reshape(flow.teachers), noise).reshape(-1)  # noqa: E741
        return jax.jacfwd(l)(f)

    return jax.vmap(one, in_axes=-1, out_axes=-1)(f[:, :few], f_star[:, :few], replica.samples.noise[:few])


def _output_tangent(
    own: SamplePaths, known: SampleRows, node: Node, R_w: Float[Array, "c N"], slope: Float[Array, "c c few"]
) -> Float[Array, "c N few"]:
    """Return dl/du(s) = l' (1(s = node) - R_w dl_before); eq. (gf_dl), (gf_df)."""
    before = times_all_tangents(R_w, known.response, node)
    past = -apply_pathwise(slope, before)
    return lax.dynamic_update_slice_in_dim(past, slope, node, axis=1)


def _stein(
    own: SamplePaths,
    residuals: Float[Array, "c Ms"],
    R_l: Float[Array, "c N"],
    along: Float[Array, "N teachers"],
    end: Node,
) -> Float[Array, "c teachers"]:
    """Return r w* by the teachers' orthonormal combinations, by Stein's lemma; ``along`` is E[W e^T]."""
    reached = jnp.where((jnp.arange(R_l.shape[1]) < end)[None], R_l, 0.0)
    return own.total((residuals * own.probability[None]) @ own.teacher.T) - reached @ along
