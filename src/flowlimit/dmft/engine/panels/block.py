"""One block of the causal solve: weights side and samples side iterated until they agree.

On a panel both sides are unknown at all its nodes. One iteration takes a Newton step on every path at the current G and
z, computes the response R_w of the paths, then G and the root of C_f; it converges faster than any power, as Volterra
equations do, with no damping.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from ....numerics.blocks import Blocks
from ....types import Scalar
from ...settings import Iteration
from ..history import Node, before, onto_history, times_history
from ..replica import Reference, Replica
from ..samples_side import Feedback, Root, feedback_rows, noise_columns, root_rows, turn_to, turned
from ..site import NodePaths, NodeTheta
from ..state import Front, Paths, Rows, Total
from ..stein import own_covariance, scaled_response
from ..weighting import response_weights
from .correction import corrected_response, corrected_root
from .weights_side import (
    Collocation,
    Linearised,
    Moved,
    advance_tangents,
    better_start,
    block_response,
    block_tangents,
    linearise,
    newton_paths,
)

NEGLIGIBLE = 1e-6
"""Roots of errors below this part of the first error's root are not iterated to relative accuracy."""
TURNED = 6
"""Iterations after which a block's normals turn no more: a turn that follows the root is not in the correction. With 2
replicas were less alike, late spreads two to three times as large; with 8 late panels took a tenth more iterations."""


class Operators(NamedTuple):
    """A block's rows of R_w and G and of the root of C_f, with what they do to g, eq. (gf_g), and how far they are.

    ``turn`` is that of the block's normals, which makes the triangular root the ``root`` that is kept, see `turn_to`;
    ``noise`` is z/delta, ``memory`` what G makes of the blocks before, ``change`` what the last iteration changed.
    """

    R: Float[Array, "q N"]
    G: Feedback
    root: Root
    turn: Float[Array, "q q"]
    noise: NodePaths
    memory: NodePaths
    change: Scalar
    iterations: Int[Array, ""]
    consistent: Bool[Array, ""]  # whether G is that of R


class Guess(NamedTuple):
    """A block's unknowns: its paths, its operators, and for how many steps yet the paths alone move.

    At first paths come to rest at given operators: that is cheap, and the operators are then found from good paths.
    """

    theta: NodeTheta
    W: NodePaths
    known: Operators
    following: Int[Array, ""]


def advance(replica: Replica, block: Blocks, node: Node, front: Front, rows: Rows) -> tuple[Front, Rows]:
    """Solve the block whose first node is ``node``."""
    guess = _first_guess(replica, block, node, front, rows)
    step = lambda guess: _iterate(replica, block, node, front, rows, guess)
    # written so that a NaN ends the loop: the driver sees it and takes a shorter panel
    most, tolerance = _rule(replica).most, replica.setting.tolerance
    unsettled = lambda guess: (guess.known.iterations < most) & (guess.known.change >= tolerance)
    guess = lax.while_loop(unsettled, step, guess)
    return _accept(replica, block, node, front, rows, guess)


def _rule(replica: Replica) -> Iteration:
    assert replica.iteration is not None  # panels are iterated
    return replica.iteration


def _first_guess(replica: Replica, block: Blocks, node: Node, front: Front, rows: Rows) -> Guess:
    """Operators as in the reference, or as at the last node; a path stays or goes on as it went, as fits better."""
    q = block.times.shape[0]
    last = jnp.maximum(node - 1, 0)
    row = lambda operator: lax.dynamic_slice_in_dim(operator, last, 1, axis=0)
    stays = lambda operator, columns: before(jnp.broadcast_to(row(operator), (q, operator.shape[0])), columns)
    reference, given = _known(replica, node, q)
    R, L = reference.R_w, reference.L
    known_G = feedback_rows(R, rows.G, node)
    G = Feedback(jnp.where(given, known_G.past, stays(rows.G, last)), jnp.where(given, known_G.own, jnp.eye(q)))
    root = Root(jnp.where(given, L, stays(rows.L, node)), jnp.zeros((q, rows.Q.shape[1])), _fresh(reference.goal, node))
    field = _noise(replica, node, root), times_history(G.past, rows.W, node)
    known = Operators(R, G, root, jnp.eye(q), *field, jnp.array(jnp.inf), jnp.array(0), given)
    theta = jnp.broadcast_to(front.theta, (q, *front.theta.shape))
    moving = theta + jnp.sum(block.inner, axis=1)[:, None, None] * front.velocity[None]
    equations = _equations(replica, block, front, known)
    theta = better_start(equations, (theta, moving))
    return Guess(theta, equations.weight(theta), known, jnp.array(_rule(replica).most_followed))


def _known(replica: Replica, node: Node, q: int) -> tuple[Reference, Bool[Array, ""]]:
    """Return the reference's rows for a block, and whether there are any."""
    rows = jax.tree.map(lambda x: lax.dynamic_slice_in_dim(x, node, q, axis=0), replica.reference)
    return rows, jnp.any(rows.goal != 0.0)


def _fresh(L: Float[Array, "q N"], node: Node) -> Bool[Array, "q"]:
    """Return which of a block's nodes bring an innovation, from the block's rows of L."""
    return jnp.diagonal(lax.dynamic_slice_in_dim(L, node, len(L), axis=1)) != 0.0


def _equations(replica: Replica, block: Blocks, front: Front, known: Operators) -> Collocation:
    """Return the block's equations at given operators: g = z/delta + memory of earlier blocks + G (w - w*)."""
    paths = replica.paths
    return Collocation(
        replica.site, block, known.G.own, front.theta, known.noise + known.memory, paths.w_star, paths.root
    )


def _noise(replica: Replica, node: Node, root: Root) -> NodePaths:
    """Return z/delta with z = sqrt(delta) L normals, eq. (gf_g); L is zero from where nothing is known yet."""
    rows = root.L / jnp.sqrt(replica.setting.aspect_ratio)
    return times_history(rows, replica.paths.normals, node + len(rows))


def _linearise_few(replica: Replica, equations: Collocation, theta: NodeTheta) -> Linearised:
    """Linearise the paths that serve the responses."""
    few = replica.paths.few_probability.shape[0]
    return linearise(equations.first(few), theta[..., :few])


def _iterate(replica: Replica, block: Blocks, node: Node, front: Front, rows: Rows, guess: Guess) -> Guess:
    """Take one Newton step on every path; once they rest, find the operators from them."""
    paths, rule = replica.paths, _rule(replica)
    equations = _equations(replica, block, front, guess.known)
    theta, immediate = newton_paths(equations, guess.theta)
    W = equations.weight(theta)
    moved = _relative_change(W, guess.W, paths.probability, jnp.array(1.0), paths.total)
    following = jnp.where(moved > rule.followed, jnp.maximum(guess.following - 1, 0), 0)
    renew = lambda: _new_operators(replica, node, front, rows, equations, guess, Moved(theta, immediate), W)
    known = lax.cond(guess.following > 0, lambda: guess.known, renew)
    return Guess(theta, W, known, following)


def _new_operators(
    replica: Replica,
    node: Node,
    front: Front,
    rows: Rows,
    equations: Collocation,
    guess: Guess,
    moved: Moved,
    W: NodePaths,
) -> Operators:
    setting, paths, known = replica.setting, replica.paths, guess.known
    block, immediate = equations.block, moved.immediate
    at = _linearise_few(replica, equations, moved.theta)
    weights = response_weights(paths, immediate)
    known_at = (known.G.past, front.tangent, rows.response, node)
    covariance = own_covariance(rows, known.root, node)
    response = block_response(at, block_tangents(block, at), *known_at, weights, covariance[:, -1])
    mean, square = paths.total((response.mean, paths.probability @ paths.w_star**2))
    R = -mean / setting.aspect_ratio  # eq. (dmft_Rw)
    variance = jnp.sum(known.root.L**2, axis=1) / setting.aspect_ratio
    R = scaled_response(paths, R, covariance, response.along, immediate, W, known.noise, variance)
    R = _correct_response(replica, node, rows, known, R)
    G = feedback_rows(R, rows.G, node)
    memory = times_history(G.past, rows.W, node)
    labels = jnp.sqrt(setting.noise_var) * (jnp.sum(G.past, axis=1) + jnp.sum(G.own, axis=1))
    scale = jnp.sqrt(square + setting.noise_var)
    centre = (memory + G.own @ W) * jnp.sqrt(paths.probability)[None]
    F = jnp.concatenate([centre, noise_columns(paths, labels[:, None])], axis=1)
    rule, (reference, given) = _rule(replica), _known(replica, node, len(W))
    fresh = jnp.where(given, _fresh(reference.goal, node), known.root.fresh)
    settled = (known.change < rule.chosen) | (known.iterations >= rule.chosen_after) | given
    root = root_rows(F, rows.Q, node, scale, setting.tolerance, settled, fresh, paths.total)
    turn = jnp.where(known.iterations < TURNED, turn_to(root, reference.goal, node), known.turn)
    overlap = _overlap(paths, node, rows, root, turn)
    root = root._replace(L=turned(root.L, turn, node), Q=turn.T @ root.Q)
    change = jnp.maximum(
        _relative_change(root.L, known.root.L, jnp.ones(root.L.shape[1]), scale, lambda sums: sums),
        _relative_change(W, guess.W, paths.probability, scale, paths.total),
    )
    root = _correct_root(replica, node, known, G, root, turn, overlap)
    field = _noise(replica, node, root), memory
    return Operators(R, G, root, turn, *field, change, known.iterations + 1, jnp.array(True))


def _correct_response(
    replica: Replica, node: Node, rows: Rows, known: Operators, R: Float[Array, "q N"]
) -> Float[Array, "q N"]:
    own = lax.dynamic_update_slice_in_dim(known.G.past, known.G.own, node, axis=1)
    G = _live(lax.dynamic_update_slice_in_dim(rows.G, own, node, axis=0), node + R.shape[0])
    better = known.R + corrected_response(R - known.R, known.G.own, G, replica.setting.aspect_ratio)
    return jnp.where(known.consistent, better, R)


def _correct_root(
    replica: Replica,
    node: Node,
    known: Operators,
    G: Feedback,
    root: Root,
    turn: Float[Array, "q q"],
    overlap: Float[Array, "N N"],
) -> Root:
    """Correct L as the triangular root that it is before the turn."""
    q, N = root.L.shape
    causal = jnp.arange(N)[None, :] < node + 1 + jnp.arange(q)[:, None]
    residual, aspect_ratio = turned(root.L - known.root.L, turn.T, node), replica.setting.aspect_ratio
    change = corrected_root(residual, G.own, _live(overlap, node + q), causal, aspect_ratio)
    return root._replace(L=jnp.where(known.consistent, known.root.L + turned(change, turn, node), root.L))


def _overlap(paths: Paths, node: Node, rows: Rows, root: Root, turn: Float[Array, "q q"]) -> Float[Array, "N N"]:
    """Return E Q^T with the block's rows and columns in place; its normals are turned."""
    q, root_p = root.L.shape[0], jnp.sqrt(paths.probability)[None]
    E_own = turn @ lax.dynamic_slice_in_dim(paths.normals, node, q, axis=0) * root_p
    across = onto_history(root.Q[:, :-1] * root_p, paths.normals, node)
    own = onto_history(jnp.pad(E_own, ((0, 0), (0, 1))), rows.Q, node)
    across, own, square = paths.total((across, own, E_own @ root.Q[:, :-1].T))
    own = lax.dynamic_update_slice_in_dim(own, square, node, axis=1)
    overlap = lax.dynamic_update_slice_in_dim(rows.overlap, across.T, node, axis=1)
    return lax.dynamic_update_slice_in_dim(overlap, own, node, axis=0)


def _kept_overlap(replica: Replica, node: Node, rows: Rows, known: Operators) -> Float[Array, "N N"]:
    overlap = _overlap(replica.paths, node, rows, known.root, jnp.eye(len(known.turn)))
    return jnp.where(jnp.isfinite(known.change), overlap, rows.overlap)


def _live(operator: Float[Array, "N N"], end: Node) -> Float[Array, "N N"]:
    """Return the operator with zeros from node ``end`` on, where rows may be another try's."""
    reached = jnp.arange(operator.shape[0]) < end
    return jnp.where(reached[:, None] & reached[None, :], operator, 0.0)


def _relative_change(
    new: Float[Array, "q n"], old: Float[Array, "q n"], weight: Float[Array, "n"], scale: Scalar, total: Total
) -> Scalar:
    floor = (NEGLIGIBLE * scale) ** 2 + jnp.finfo(new.dtype).tiny
    moved, size = total(((new - old) ** 2 @ weight, new**2 @ weight))
    return jnp.sqrt(jnp.max(moved / (size + floor)))


def _accept(replica: Replica, block: Blocks, node: Node, front: Front, rows: Rows, guess: Guess) -> tuple[Front, Rows]:
    q, (k, M) = block.times.shape[0], front.theta.shape
    known, equations = guess.known, _equations(replica, block, front, guess.known)
    p = replica.site.drift(block.times, guess.theta, equations.source + known.G.own @ guess.W, equations.root)
    theta = front.theta + (block.weights @ p.reshape(q, k * M)).reshape(k, M)
    at = _linearise_few(replica, equations, guess.theta)
    tangent, dW = advance_tangents(block, at, block_tangents(block, at), known.G, front.tangent, rows.response, node)
    w = guess.W + replica.paths.w_star[None]
    # What failed must not stay behind: the next try masks these rows, and 0 times NaN is NaN.
    finite = lambda part: jnp.where(jnp.isfinite(known.change), part, 0.0)
    put = lambda whole, part: lax.dynamic_update_slice_in_dim(whole, finite(part), node, axis=0)
    new = Rows(
        W=put(rows.W, guess.W),
        response=put(dW, lax.dynamic_slice_in_dim(dW, node, q, axis=0)),
        Q=put(rows.Q, known.root.Q),
        R_w=put(rows.R_w, known.R),
        G=put(rows.G, lax.dynamic_update_slice_in_dim(known.G.past, known.G.own, node, axis=1)),
        L=put(rows.L, known.root.L),
        overlap=_kept_overlap(replica, node, rows, known),
        averages=put(rows.averages, replica.observe(replica.site, block, guess.theta, w, replica.paths)),
        iterations=put(rows.iterations, jnp.full(q, known.iterations, dtype=float)),
        disagreement=lax.dynamic_update_slice_in_dim(rows.disagreement, jnp.full(q, known.change), node, axis=0),
        noises=rows.noises,
        initial=rows.initial,
    )
    return Front(theta, p[-1], tangent), new
