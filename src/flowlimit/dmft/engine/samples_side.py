"""The samples side of a block for the quadratic loss, which closes: G from R_w, and a root of C_f.

    G (I + R_w) = I,      F = G [W sqrt(probability), sigma 1],      C_f = F F^T,        eq. (dmft_Cf), (dmft_Rf)

C_f is never formed: the rows of F are orthogonalised one after the other, F = L Q with L lower triangular, so that
z = sqrt(delta) L normals is causal, and rows already known never change. A stochastic samples side, for other losses,
will stand beside this one and give the same: rows of G = R_l and of the root L.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float

from ...numerics.pathwise import solve_pathwise
from ...types import Scalar
from .history import Node, before, onto_history, times_history
from .state import Paths, Total

LARGEST_FLOOR, FLOOR_PART = 1e-6, 0.1
"""Innovations, relative to their row, below the first of these or below that part of the block's tolerance are dropped:
at most 1e-12 of the variance. A smooth process has almost none at a node that its neighbours determine, and the
direction of so small a rest is noise, of the sample and of the iteration."""
FAR_ABOVE = 1000.0
"""Factor above the floor at which an innovation comes back."""
SMALLEST_FLOOR = 1e-10
"""Innovations below this, relative to their row, are never kept: two passes could not make them orthogonal to the rest,
and a direction that is not would take part of what is known already for new."""
ROUNDING = 1e-12
"""Innovations below this, relative to the first error's root, are rounding: F = G W cancels where training succeeds."""


class Feedback(NamedTuple):
    """A block's rows of G: columns before the block, and the block's own square."""

    past: Float[Array, "q N"]
    own: Float[Array, "q q"]


class Root(NamedTuple):
    """A block's rows of L and Q, and which of its nodes bring an innovation."""

    L: Float[Array, "q N"]
    Q: Float[Array, "q M1"]
    fresh: Bool[Array, "q"]


def feedback_rows(R: Float[Array, "q N"], G: Float[Array, "N N"], node: Node) -> Feedback:
    """Return the block's rows of G = (I + R_w)^-1."""
    eye = jnp.eye(R.shape[0])
    own = solve_pathwise((eye + lax.dynamic_slice_in_dim(R, node, len(R), axis=1))[..., None], eye[..., None])[..., 0]
    return Feedback(-own @ times_history(before(R, node), G, node), own)


def noise_columns(paths: Paths, columns: Float[Array, "q columns"]) -> Float[Array, "q columns"]:
    """Return columns of F that are no path's: on every device, each with its part of their squares."""
    return columns / jnp.sqrt(float(paths.parts))


def root_rows(
    F: Float[Array, "q M1"],
    Q: Float[Array, "N M1"],
    node: Node,
    scale: Scalar,
    tolerance: Scalar,
    settled: Bool[Array, ""],
    fresh: Bool[Array, "q"],
    total: Total,
) -> Root:
    """Orthogonalise the block's rows of F against all before and among themselves, twice as rounding asks for.

    Once ``settled``, the nodes in ``fresh`` keep their innovations, others only if they are far above the floor: one
    at the floor would otherwise come and go from iteration to iteration, and from replica to replica. ``total`` sums
    over devices.
    """
    size = total(jnp.sum(F**2, axis=1))
    rest, known = _without_history(F, Q, node, total)
    lowest = SMALLEST_FLOOR**2 * size + (ROUNDING * scale) ** 2
    floor = jnp.minimum(LARGEST_FLOOR, FLOOR_PART * tolerance) ** 2 * size
    above = lambda i, square: square > jnp.where(settled, FAR_ABOVE**2, 1.0) * floor[i]
    keep = lambda i, square: (above(i, square) | (settled & fresh[i])) & (square > lowest[i])
    own, rest, fresh = _gram_schmidt(rest, keep, total)
    return Root(lax.dynamic_update_slice_in_dim(known, own, node, axis=1), rest, fresh)


def turn_to(root: Root, reference: Float[Array, "q N"], node: Node) -> Float[Array, "q q"]:
    """Return the turn of a block's own normals that takes its square of L nearest the reference's; none for no effect.

    Every turn is a root of the same C_f. Small innovations have directions that differ from replica to replica; without
    the turn the leading normals, in which points are most even, would then do something else in every replica.
    """
    own, goal = (lax.dynamic_slice_in_dim(L, node, len(L), axis=1) for L in (root.L, reference))
    left, _, right = jnp.linalg.svd(lax.stop_gradient(own.T @ goal))
    return jnp.where(jnp.any(goal != 0.0), left @ right, jnp.eye(len(goal)))


def turned(rows: Float[Array, "q N"], turn: Float[Array, "q q"], node: Node) -> Float[Array, "q N"]:
    """Return rows of L for turned normals of the block."""
    own = lax.dynamic_slice_in_dim(rows, node, len(rows), axis=1)
    return lax.dynamic_update_slice_in_dim(rows, own @ turn, node, axis=1)


def _without_history(
    rows: Float[Array, "q M1"], Q: Float[Array, "N M1"], node: Node, total: Total
) -> tuple[Float[Array, "q M1"], Float[Array, "q N"]]:
    """Return what is left of rows without their parts along those before, and these parts; two passes, for rounding."""

    def project(_: Node, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        rest, known = carry
        parts = total(onto_history(rest, Q, node))
        return rest - times_history(parts, Q, node), known + parts

    return lax.fori_loop(0, 2, project, (rows, jnp.zeros((len(rows), len(Q)))))


def _gram_schmidt(
    rows: Float[Array, "q M1"], keep: Callable[[Node, Scalar], Bool[Array, ""]], total: Total
) -> tuple[Float[Array, "q q"], Float[Array, "q M1"], Bool[Array, "q"]]:
    """Return L, Q with rows = L Q, and which rows were kept; the others have rows of 0 in Q.

    Each row is taken out of all that follow; then what rounding has left of them along each other.
    """
    q, tiny = rows.shape[0], jnp.finfo(rows.dtype).tiny
    place = jnp.arange(q)

    def one(i: Node, carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        L, rest, kept = carry
        along = total(rest @ rest[i])
        real = keep(i, along[i]) & (along[i] > tiny)
        norm = jnp.sqrt(jnp.where(real, along[i], 1.0))  # a root of 0 would have an infinite derivative
        parts = jnp.where(real & (place >= i), along / norm, 0.0)
        unit = jnp.where(real, rest[i] / norm, 0.0)
        rest = jnp.where(
            (place == i)[:, None], unit[None], rest - jnp.where(place > i, parts, 0.0)[:, None] * unit[None]
        )
        return L.at[:, i].set(parts), rest, kept.at[i].set(real)

    # loops, not lists of operations: the compiler's time goes with their number
    L, Q, kept = lax.fori_loop(0, q, one, (jnp.zeros((q, q)), rows, jnp.zeros(q, dtype=bool)))
    if q == 1:
        return L, Q, kept
    overlap = total(Q @ Q.T) - jnp.diag(kept.astype(float))
    lower = jnp.tril(overlap, -1) + jnp.diag(jnp.diagonal(overlap)) / 2.0  # root of 1 + overlap, less 1
    return L + L @ lower, Q - lower @ Q, kept
