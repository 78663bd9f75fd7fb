"""The weights side of a block: paths of theta by Newton's method, and the response R_w of their mean.

With A = dp/dg, B = dp/dtheta, C = dw/dtheta and J = I - S (A G C + B) on the block (S the block's inner operator),

    theta = start + S p(g, theta),           g = source + G (w(theta) - w*),        eq. (gf_theta), (gf_g)
    J dtheta = dstart + S A (I + G_before dW_before),    dW = C dtheta,             eq. (gf_dtheta), (gf_dw)

and R_w = -E[dW]/delta, eq. (dmft_Rw), the paper's sign for the diagonal network.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from ....numerics.blocks import Blocks
from ....numerics.pathwise import apply_pathwise, solve_pathwise
from ..history import CHUNK, Node, before, chunks_before, times_tangents
from ..samples_side import Feedback
from ..site import NodePaths, NodeTheta, Root, Site, Slopes

at_every_node = jax.vmap(apply_pathwise)
"""`apply_pathwise` with one matrix per node and path."""
SHORTER, SHORTEST = 0.25, 1e-3
"""By how much, and to what part, a Newton step is shortened where it overshoots (an exponential readout does)."""
TABLE = 150_000
"""Bytes of the Newton systems that are solved together: a core's caches hold them, and eliminations do not wait."""
LEAST = 4
"""Power of two of the fewest of them: fewer do not fill a core's vectors."""
SETTLED = 1e-20
"""Squared residual below which rounding decides whether a step makes it worse."""


class Collocation(NamedTuple):
    """A block's collocation equations for theta on every path, at given operators."""

    site: Site
    block: Blocks
    G: Float[Array, "nodes nodes"]
    start: Float[Array, "k paths"]
    source: NodePaths
    w_star: Float[Array, "paths"]
    root: Root

    def first(self, paths: int) -> "Collocation":
        """Return the equations of the first paths alone."""
        own = jax.tree.map(lambda x: x[..., :paths], tuple(self[3:]))
        return Collocation(self.site, self.block, self.G, *own)

    def weight(self, theta: NodeTheta) -> NodePaths:
        """Return w - w*."""
        return self.site.weight(self.block.times, theta, self.root) - self.w_star[None]


class Linearised(NamedTuple):
    """A block's paths at the current guess: weights error, g, Jacobians, residual and the matrix J."""

    W: NodePaths
    g: NodePaths
    slopes: Slopes
    residual: NodeTheta
    J: Float[Array, "n n paths"]


def linearise(equations: Collocation, theta: NodeTheta) -> Linearised:
    """Evaluate the collocation equations and their Jacobian at theta."""
    q, k, M = theta.shape
    W, g, residual = _collocate(equations, theta)
    site, block, G = equations.site, equations.block, equations.G
    slopes = site.slopes(block.times, theta, g, equations.root)
    # (S A G C)_{ia,jb} = sum_m S_im A_ma G_mj C_jb, the sum over m as one GEMM
    pairs = (block.inner[:, None, :] * G.T[None, :, :]).reshape(q * q, q)
    feedback = (pairs @ slopes.A.reshape(q, k * M)).reshape(q, q, k, 1, M) * slopes.C[None, :, None]
    own = block.inner[:, :, None, None, None] * slopes.B[None]
    J = jnp.eye(q * k)[:, :, None] - (feedback + own).transpose(0, 2, 1, 3, 4).reshape(q * k, q * k, M)
    return Linearised(W, g, slopes, residual, J)


def _collocate(equations: Collocation, theta: NodeTheta) -> tuple[NodePaths, NodePaths, NodeTheta]:
    q, k, M = theta.shape
    site, block, G = equations.site, equations.block, equations.G
    W = equations.weight(theta)
    g = equations.source + G @ W
    p = site.drift(block.times, theta, g, equations.root)
    return W, g, theta - equations.start[None] - (block.inner @ p.reshape(q, k * M)).reshape(q, k, M)


class Moved(NamedTuple):
    """Paths after a Newton step, and what a change of g does to w at once, dw/dtheta dp/dg, before it."""

    theta: NodeTheta
    immediate: NodePaths


def newton_paths(equations: Collocation, theta: NodeTheta) -> Moved:
    """Take one Newton step on every path, tile by tile: a tile's systems stay in the cache."""
    q, k, paths = theta.shape
    tile = 1 << max(int(math.log2(TABLE / (8 * q * k * (q * k + 1)))), LEAST)
    if paths <= tile or paths % tile:
        return _newton_step(equations, theta)
    one = lambda part: _newton_step(Collocation(*equations[:3], *part[:-1]), part[-1])
    tiled = lambda x: jnp.moveaxis(x.reshape(*x.shape[:-1], paths // tile, tile), -2, 0)
    whole = lambda x: jnp.moveaxis(x, 0, -2).reshape(*x.shape[1:-1], paths)
    return jax.tree.map(whole, lax.map(one, jax.tree.map(tiled, (*equations[3:], theta))))


def _newton_step(equations: Collocation, theta: NodeTheta) -> Moved:
    """Take one step, shortened on paths where the whole step would make the residual worse."""
    q, k, M = theta.shape
    at = linearise(equations, theta)
    step = solve_pathwise(at.J, at.residual.reshape(q * k, 1, M)).reshape(q, k, M)
    goal = _size(at.residual) + SETTLED

    def worse(part: Float[Array, "paths"]) -> Bool[Array, "paths"]:
        _, _, residual = _collocate(equations, theta - part[None, None] * step)
        return ~(_size(residual) <= goal)

    def shorten(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        part = jnp.where(carry[1], SHORTER * carry[0], carry[0])
        return part, worse(part) & (part > SHORTEST)

    longer = jnp.full(M, 1.0 / SHORTER), jnp.ones(M, dtype=bool)  # so that the first pass tries the whole step
    part, _ = lax.while_loop(lambda carry: jnp.any(carry[1]), shorten, longer)
    return Moved(theta - part[None, None] * step, jnp.sum(at.slopes.A * at.slopes.C, axis=1))


def better_start(equations: Collocation, guesses: tuple[NodeTheta, NodeTheta]) -> NodeTheta:
    """Return, path by path, the guess with the smaller residual."""
    first, second = lax.map(lambda theta: _size(_collocate(equations, theta)[2]), jnp.stack(guesses))
    return jnp.where((second < first)[None, None], guesses[1], guesses[0])


def _size(residual: NodeTheta) -> Float[Array, "paths"]:
    return jnp.sum(residual**2, axis=(0, 1))


class Tangents(NamedTuple):
    """Small matrices per path with dtheta = from_start dstart + from_g dg_before."""

    from_start: Float[Array, "nodes k k few"]
    from_g: Float[Array, "nodes k nodes few"]


def block_tangents(block: Blocks, at: Linearised) -> Tangents:
    """Invert J path by path."""
    q, k, few = at.residual.shape
    A = at.slopes.A
    ones = jnp.broadcast_to(jnp.tile(jnp.eye(k), (q, 1))[:, :, None], (q * k, k, few))
    by_g = (block.inner[:, None, :, None] * A.transpose(1, 0, 2)[None]).reshape(q * k, q, few)
    both = solve_pathwise(at.J, jnp.concatenate([ones, by_g], axis=1))
    return Tangents(both[:, :k].reshape(q, k, k, few), both[:, k:].reshape(q, k, q, few))


class Response(NamedTuple):
    """E[dW] for a block's rows, and every path's response to a source along one direction in time."""

    mean: Float[Array, "nodes N"]
    along: Float[Array, "nodes few"]


def block_response(
    at: Linearised,
    tangents: Tangents,
    G: Float[Array, "nodes N"],
    start: Float[Array, "k N few"],
    history: Float[Array, "N N few"],
    node: Node,
    weights: Float[Array, "nodes few"],
    direction: Float[Array, "N"],
) -> Response:
    """Return the response of the block's rows, each with its weights, one chunk of columns after the other."""
    q, k, few = at.residual.shape
    by_start, by_g = (at_every_node(at.slopes.C, dtheta) for dtheta in (tangents.from_start, tangents.from_g))
    weighted = tuple(part * weights[:, None] for part in (by_start, by_g))
    past, own = before(direction[None], node)[0], lax.dynamic_slice_in_dim(direction, node, q)

    def put(column: Int[Array, ""], carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        rows, start_along, g_along = carry
        dg = times_tangents(G, history, column, node)
        dstart = lax.dynamic_slice_in_dim(start, column * CHUNK, CHUNK, axis=1)
        part = jnp.einsum("ikp,knp->in", weighted[0], dstart) + jnp.einsum("imp,mnp->in", weighted[1], dg)
        now = lax.dynamic_slice_in_dim(past, column * CHUNK, CHUNK)[None, :, None]
        return (
            lax.dynamic_update_slice_in_dim(rows, part, column * CHUNK, axis=1),
            start_along + jnp.sum(now * dstart, axis=1),
            g_along + jnp.sum(now * dg, axis=1),
        )

    nothing = jnp.zeros((q, G.shape[1])), jnp.zeros((k, few)), jnp.zeros((q, few))
    rows, start_along, g_along = lax.fori_loop(0, chunks_before(node), put, nothing)
    along = jnp.sum(by_start * start_along[None], axis=1) + jnp.sum(by_g * (g_along + own[:, None])[None], axis=1)
    # the block's own columns: a source at one of its nodes
    rows = lax.dynamic_update_slice_in_dim(before(rows, node), jnp.sum(weighted[1], axis=-1), node, axis=1)
    return Response(rows, along)


def advance_tangents(
    block: Blocks,
    at: Linearised,
    tangents: Tangents,
    G: Feedback,
    start: Float[Array, "k N few"],
    history: Float[Array, "N N few"],
    node: Node,
) -> tuple[Float[Array, "k N few"], Float[Array, "N N few"]]:
    """Return dtheta at the right end of the block, and the history with the block's rows of dW."""
    q = at.W.shape[0]
    A, B, C = at.slopes

    def put(column: Int[Array, ""], carry: tuple[Array, Array]) -> tuple[Array, Array]:
        start, history = carry
        place = column * CHUNK + jnp.arange(CHUNK)
        known = (place < node)[None, :, None]  # later columns are another try's, or empty
        own = (place[None, :] == node + jnp.arange(q)[:, None]).astype(float)[:, :, None]
        dg = jnp.where(known, times_tangents(G.past, history, column, node), 0.0) + own
        dstart = jnp.where(known, lax.dynamic_slice_in_dim(start, column * CHUNK, CHUNK, axis=1), 0.0)
        dtheta = apply_pathwise(tangents.from_start, dstart) + apply_pathwise(tangents.from_g, dg)
        dW = at_every_node(C, dtheta)
        dp = A[:, :, None] * (dg + jnp.tensordot(G.own, dW, axes=1))[:, None]
        dp = dp + at_every_node(B, dtheta)
        end = dstart + jnp.tensordot(block.weights, dp, axes=1)
        return (
            lax.dynamic_update_slice_in_dim(start, end, column * CHUNK, axis=1),
            lax.dynamic_update_slice(history, dW, (node, column * CHUNK, 0)),
        )

    return lax.fori_loop(0, chunks_before(node + q), put, (start, history))
