"""The linear algebra of a block against dense matrices: history, feedback, roots, corrections, Newton's matrix."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.dmft.engine.history import CHUNK, before, onto_history, times_all_tangents, times_history
from flowlimit.dmft.engine.panels import correction
from flowlimit.dmft.engine.panels.correction import corrected_response, corrected_root
from flowlimit.dmft.engine.panels.weights_side import Collocation, block_tangents, linearise
from flowlimit.dmft.engine.samples_side import Root, feedback_rows, root_rows, turn_to, turned
from flowlimit.dmft.engine.site import make_site
from flowlimit.dmft.engine.state import Paths
from flowlimit.dmft.engine.weighting import response_weights
from flowlimit.numerics.blocks import panels
from flowlimit.problem.flow import make_flow

RNG = np.random.default_rng(0)
ROOM, Q = 3 * CHUNK, 8


@pytest.mark.parametrize("node", [0, 1, CHUNK, CHUNK + 5])
def test_products_stop_before_the_node(node):
    """Rows and histories of later nodes hold no meaning, here NaN: they must not enter."""
    rows, history, tangents = (RNG.normal(size=shape) for shape in ((2, ROOM), (ROOM, 7), (ROOM, ROOM, 3)))
    place = np.arange(ROOM)
    tangents = np.where((place[:, None] >= place[None, :])[:, :, None], tangents, 0.0)  # causal
    masked, at = before(jnp.asarray(rows), jnp.array(node)), jnp.array(node)
    assert (np.asarray(masked) == np.where(place < node, rows, 0.0)).all()
    assert np.asarray(times_history(masked, jnp.asarray(history), at)) == pytest.approx(rows[:, :node] @ history[:node])
    onto = np.asarray(onto_history(jnp.asarray(history[:2]), jnp.asarray(history), at))
    assert onto == pytest.approx(np.where(place < node, history[:2] @ history.T, 0.0))
    found = np.asarray(times_all_tangents(masked, jnp.asarray(tangents), at))
    exact = np.einsum("qn,nms->qms", rows[:, :node], tangents[:node])
    assert found[:, :node] == pytest.approx(exact[:, :node])
    assert np.abs(found[:, node:]).max() == 0.0


def test_feedback_is_the_inverse():
    """Block by block, G (I + R_w) = I for a causal R_w."""
    R = np.tril(RNG.normal(size=(3 * Q, 3 * Q))) * 0.2
    padded, G = np.zeros((ROOM, ROOM)), np.zeros((ROOM, ROOM))
    padded[: 3 * Q, : 3 * Q] = R
    for node in range(0, 3 * Q, Q):
        past, own = jax.jit(feedback_rows)(jnp.asarray(padded[node : node + Q]), jnp.asarray(G), jnp.array(node))
        G[node : node + Q] = past
        G[node : node + Q, node : node + Q] = own
    assert G[: 3 * Q, : 3 * Q] @ (np.eye(3 * Q) + R) == pytest.approx(np.eye(3 * Q), abs=1e-12)


@jax.jit
def _root(F, Q, node):
    free = jnp.zeros(len(F), dtype=bool)
    return root_rows(F, Q, node, jnp.ones(()), jnp.asarray(1e-6), free[0], free, lambda sums: sums)


def test_roots_are_roots():
    """F = L Q with orthonormal rows Q and a lower triangular L, block by block."""
    F, Qs, L = RNG.normal(size=(2 * Q, 40)), np.zeros((ROOM, 40)), np.zeros((2 * Q, ROOM))
    for node in (0, Q):
        found = _root(jnp.asarray(F[node : node + Q]), jnp.asarray(Qs), jnp.array(node))
        Qs[node : node + Q], L[node : node + Q] = found.Q, found.L
        assert bool(found.fresh.all())
    assert L[:, : 2 * Q] @ Qs[: 2 * Q] == pytest.approx(F, abs=1e-12)
    assert Qs[: 2 * Q] @ Qs[: 2 * Q].T == pytest.approx(np.eye(2 * Q), abs=1e-12)
    assert np.abs(np.triu(L, 1)).max() < 1e-12


def test_a_turned_root_is_a_root_and_like_the_reference():
    """Turning back a turn that was planted in the last columns leaves the reference; with none nothing happens."""
    L, goal = np.zeros((Q, ROOM)), np.zeros((Q, ROOM))
    node, lower = 5, np.tril(RNG.normal(size=(Q, Q)))
    turn = np.linalg.qr(RNG.normal(size=(Q, Q)))[0]
    goal[:, :node] = L[:, :node] = RNG.normal(size=(Q, node))
    goal[:, node : node + Q], L[:, node : node + Q] = lower, lower @ turn
    found = Root(jnp.asarray(L), jnp.asarray(turn.T), jnp.ones(Q, dtype=bool))
    back = turn_to(found, jnp.asarray(goal), jnp.array(node))
    assert np.asarray(turned(found.L, back, jnp.array(node))) == pytest.approx(goal, abs=1e-12)
    assert np.asarray(back) == pytest.approx(turn.T, abs=1e-12)
    none = turn_to(found, jnp.zeros((Q, ROOM)), jnp.array(node))
    assert (np.asarray(none) == np.eye(Q)).all()


def _paths(few, probability):
    share = jnp.asarray(probability[:few] / probability[:few].sum())
    row, empty = jnp.zeros((1, len(probability))), jnp.zeros((0, 1, len(probability)))
    return Paths(row, row, row[0], jnp.asarray(probability), share, empty)


def test_the_few_have_the_averages_of_all():
    """Two functions of the immediate response average to the same, and what goes with it is averaged better."""
    speed, probability = np.exp(np.random.default_rng(1).normal(size=4000)), np.full(4000, 1 / 4000)
    paths, share = _paths(200, probability), np.full(200, 1 / 200)
    weights = np.asarray(response_weights(paths, jnp.asarray(speed)[None]))[0]
    typical = probability @ speed
    for function in (np.ones_like, lambda x: x, lambda x: x / (x + typical)):
        assert weights @ function(speed[:200]) == pytest.approx(probability @ function(speed), rel=1e-5)
    answer = 1.0 - np.exp(-speed / typical)
    error = lambda weights: abs(weights @ answer[:200] - probability @ answer)
    assert error(weights) < 0.1 * error(share)
    assert (weights > 0.0).all()


@pytest.mark.parametrize("speed", [0.0, 1.5])
def test_paths_that_are_alike_keep_their_weights(speed):
    """A linear flow has one response on all paths: nothing is to be made up for, also not by rounding."""
    paths = _paths(20, np.full(100, 0.01))
    weights, slope = jax.jvp(lambda x: response_weights(paths, x[None])[0], (jnp.full(100, speed),), (jnp.ones(100),))
    assert np.asarray(weights) == pytest.approx(np.asarray(paths.few_probability), rel=1e-12)
    assert np.isfinite(np.asarray(slope)).all()


def test_corrections_solve_their_equations(monkeypatch):
    """dR - delta H dR H = residual and, within the triangle, dL + sqrt(delta) H dL overlap = residual."""
    monkeypatch.setattr(correction, "ENOUGH", 0.0)
    delta, residual = jnp.asarray(0.5), RNG.normal(size=(Q, Q))
    G = np.linalg.inv(np.eye(Q) + 0.1 * np.tril(np.abs(RNG.normal(size=(Q, Q)))))
    H, overlap = np.eye(Q) - G, 0.3 * RNG.normal(size=(Q, Q))
    dR = np.asarray(corrected_response(*map(jnp.asarray, (residual, G, G)), delta))
    assert dR - 0.5 * H @ dR @ H == pytest.approx(residual, abs=1e-10)
    causal = np.tri(Q, dtype=bool)
    given = (np.where(causal, residual, 0.0), G, overlap, causal)
    dL = np.asarray(corrected_root(*map(jnp.asarray, given), delta))
    back = np.where(causal, np.sqrt(0.5) * H @ dL @ overlap, 0.0)
    assert dL + back == pytest.approx(given[0], abs=1e-8)


def test_a_correction_ends_with_its_first_small_term():
    """What is missing is what the last term would add: at most that term by the norms of both factors."""
    delta, residual = 0.5, RNG.normal(size=(Q, Q))
    G = np.linalg.inv(np.eye(Q) + 0.1 * np.tril(np.abs(RNG.normal(size=(Q, Q)))))
    H = np.eye(Q) - G
    dR = np.asarray(corrected_response(*map(jnp.asarray, (residual, G, G)), jnp.asarray(delta)))
    missing = np.abs(dR - delta * H @ dR @ H - residual).max()
    norms = delta * np.linalg.norm(H, np.inf) * np.linalg.norm(H, 1)
    assert 1e-14 < missing <= correction.ENOUGH * norms * np.abs(dR).max()


@eqx.filter_jit
def _at(block, equations, theta):
    at = linearise(equations, theta)
    return at, block_tangents(block, at)


def test_newtons_matrix_is_the_jacobian():
    """J is the derivative of the collocation equations by theta; tangents are those by the start and by g."""
    q, few, k = 3, 2, 2
    model = fl.DiagonalLinear(0.7, weight_decay=0.2, depth=3)
    site = make_site(make_flow(model, fl.Regression(0.5, noise_var=0.1, target=fl.Normal()), fl.GradientFlow(1.0)))
    block = jax.tree.map(lambda x: x[0], panels(np.array([0.0, 0.6]), q))
    shapes = ((q, q), (k, few), (q, few), (few,), (q, k, few))
    G, start, source, w_star, theta = (jnp.asarray(0.5 + 0.3 * RNG.normal(size=shape)) for shape in shapes)
    at, tangents = _at(block, Collocation(site, block, G, start, source, w_star, None), theta)

    def residual(theta, start, source):
        """Written out: theta - start - S p(g, theta), g = source + G (w - w*), path by path."""
        w = jax.vmap(site.flow.readout, in_axes=(None, 0))(jnp.zeros(()), theta)
        g = source + G @ (w - w_star[0])
        return (
            theta - start[None] - block.inner @ jax.vmap(site.flow.drift, in_axes=(None, 0, 0))(jnp.zeros(()), theta, g)
        )

    own = theta[..., 0], start[:, 0], source[:, 0]
    by_theta, by_start, by_source = (
        np.asarray(x).reshape(q * k, -1) for x in jax.jit(jax.jacfwd(residual, argnums=(0, 1, 2)))(*own)
    )
    assert np.asarray(at.residual[..., 0]) == pytest.approx(np.asarray(jax.jit(residual)(*own)))
    assert np.asarray(at.J[..., 0]) == pytest.approx(by_theta)
    moved = lambda by: -np.linalg.solve(by_theta, by)
    assert np.asarray(tangents.from_start[..., 0]).reshape(q * k, k) == pytest.approx(moved(by_start))
    assert np.asarray(tangents.from_g[..., 0]).reshape(q * k, q) == pytest.approx(moved(by_source))
