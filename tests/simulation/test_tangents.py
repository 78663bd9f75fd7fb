"""Tangents against independent loops, closed forms, and the estimator that is known for linear descent."""

import numpy as np
import pytest

import flowlimit as fl
from flowlimit.numerics.blocks import gauss_rule
from flowlimit.numerics.precision import own_settings
from flowlimit.numerics.streams import as_key
from flowlimit.problem.flow import make_flow
from flowlimit.problem.requests import positions_of
from flowlimit.simulation.tangents import TangentWork, follow, invert
from flowlimit.simulation.tangents.panels import ORDER
from flowlimit.simulation.tangents.probes import Probes
from flowlimit.simulation.tangents.samples_side import traces_of

STEP = 0.2


@own_settings()
def path_of(model, X, y, training, probes=4, key=0, rtol=1e-7):
    data = fl.Dataset(X, y)
    saves = positions_of("save_at", None, training.clock)
    work = TangentWork([make_flow(model, data, training)], data, saves, probes, as_key(key), "balanced", rtol)
    return follow(work, lambda fraction, message: None)[0]


def draw(samples, dim, seed=0, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(samples, dim)) / np.sqrt(dim)
    return X, X @ (rng.random(dim) < 0.2) + noise * rng.normal(size=samples)


def descend(X, y, steps, momentum, kicks):
    """The depth-2 network by descent with momentum, in NumPy, its residuals kicked in every step."""
    samples, dim = X.shape
    theta, v = np.full((2, dim), 0.4), np.zeros((2, dim))
    found = []
    for k in range(steps + 1):
        r = X @ (theta[0] ** 2 - theta[1] ** 2) / 2.0 - y
        found.append(r)
        g = X.T @ (r + kicks[k]) * dim / samples
        v = momentum * v - 0.5 * np.stack([theta[0] * g, -theta[1] * g])
        theta = theta + STEP * v
    return np.array(found)


def test_tangents_are_derivatives_of_a_kicked_loop():
    """Central differences of a loop written here; 1e-6 is what they leave at a kick of 1e-5."""
    X, y = draw(12, 20)
    training = fl.GradientDescent(STEP, num_steps=9, momentum=0.5)
    path = path_of(fl.DiagonalLinear(0.4), X, y, training)
    assert np.allclose(path.residuals, descend(X, y, 9, 0.5, np.zeros((10, 12))), rtol=1e-12)
    for p in range(4):
        ahead, behind = (descend(X, y, 9, 0.5, sign * 1e-5 * path.probes[:, p]) for sign in (1.0, -1.0))
        assert np.allclose(path.responses[:, p], (ahead - behind) / 2e-5, atol=1e-6)
    for k in range(path.shapes.shape[1]):
        kicks = path.shapes[:, k, None] * path.direction
        ahead, behind = (descend(X, y, 9, 0.5, sign * 1e-5 * kicks) for sign in (1.0, -1.0))
        assert np.allclose(path.slow[:, k], (ahead - behind) / 2e-5, atol=1e-6)


def memory_matrices(X, steps):
    """Responses of linear descent as Bellec and Tan write them (arXiv:2404.17856): one big solve, all times at once.

    b_{t+1} = b_t + (step d/n) X^T (y - X b_t): M is the identity less the map from one iterate to the next, J the map
    from residuals to the next iterate, and the responses of all residuals to all are -(I x X) M^-1 J (I x X^T).
    """
    samples, dim = X.shape
    rate, after = STEP * dim / samples, np.eye(steps + 1, k=-1)
    M = np.eye((steps + 1) * dim) - np.kron(after, np.eye(dim) - rate * X.T @ X)
    J = np.kron(after, rate * np.eye(dim))
    big = np.kron(np.eye(steps + 1), X)
    return (-big @ np.linalg.solve(M, J) @ big.T).reshape(steps + 1, samples, steps + 1, samples)


def test_linear_descent_is_the_estimator_of_bellec_and_tan():
    """At equal probes: their weights are (I - A/n)^-1, A the traces along the same probes; equal to rounding."""
    X, y = draw(15, 25)
    path = path_of(fl.Linear(), X, y, fl.GradientDescent(STEP, num_steps=8))
    D = memory_matrices(X, 8)
    moved = np.einsum("tisj,spj->tpi", D, path.probes)
    A_hat = -np.tril(np.einsum("spi,tpi->ts", path.probes, moved) / 4, k=-1)  # traces, along probes
    weights = np.linalg.inv(np.eye(9) - A_hat / 15)
    iterates = np.zeros((9, 25))
    for t in range(8):
        iterates[t + 1] = iterates[t] + STEP * 25 / 15 * X.T @ (y - X @ iterates[t])
    expected = ((weights @ (y - iterates @ X.T)) ** 2).mean(axis=1)
    assert np.allclose(invert(path).test_error, expected, rtol=1e-10)


def test_traces_are_right_on_average():
    """200 probes; every entry within 4.5 standard errors of the exact trace (a fixed key, 45 entries)."""
    X, y = draw(15, 25)
    path = path_of(fl.Linear(), X, y, fl.GradientDescent(STEP, num_steps=9), probes=200)
    traces, exact = traces_of(path), np.einsum("tisi->ts", memory_matrices(X, 9)) / 15
    stderr = traces.std(axis=0, ddof=1) / np.sqrt(200)
    lower = np.tril_indices(10, k=-1)
    assert (np.abs(traces.mean(axis=0) - exact)[lower] < 4.5 * stderr[lower] + 1e-12).all()
    assert not traces[:, ~np.tri(10, k=-1, dtype=bool)].any()


@pytest.fixture(scope="module")
def linear_flow():
    X, y = draw(12, 20)
    return X, y, path_of(fl.Linear(), X, y, fl.GradientFlow(4.0))


def test_a_flow_answers_kicks_as_its_closed_form(linear_flow):
    """Of a linear model r' = -K (r + e), K = X X^T d/n: eigenvectors of K, kicks integrated by a fine rule.

    The integrator was asked for 1e-7 of the size of kicks, which is 1; ten times that for what adds up over its steps.
    """
    X, y, path = linear_flow
    values, vectors = np.linalg.eigh(X @ X.T * 20 / 12)
    times = _node_times(path)
    assert np.allclose(
        path.residuals, -(np.exp(-np.outer(times, values)) * (y @ vectors)) @ vectors.T, rtol=0.0, atol=1e-6
    )
    fine, weights = np.polynomial.legendre.leggauss(40)
    edges = _edges(path)
    for node in (5, len(times) // 2, len(times) - 1):
        total = np.zeros(12)
        for panel in range(len(edges) - 1):
            left, right = edges[panel], min(edges[panel + 1], times[node])
            if right <= left:
                continue
            s = (left + right) / 2 + (right - left) / 2 * fine
            local = 2 * (s - edges[panel]) / (edges[panel + 1] - edges[panel]) - 1
            basis = np.polynomial.legendre.legvander(local, ORDER - 1) @ gauss_rule(ORDER).transform
            e = basis @ path.probes[1 + panel * ORDER : 1 + (panel + 1) * ORDER, 0]
            decay = values * np.exp(-np.outer(times[node] - s, values))
            total -= vectors @ ((weights * (right - left) / 2) @ (decay * (e @ vectors)))
        assert np.allclose(path.responses[node, 0], total, rtol=0.0, atol=1e-6)


def _edges(path):
    """Edges of the panels, from the course x(t) of the slow kicks, which is linear in log time."""
    x = (path.shapes[:, 1] + 1) / 2
    times = np.expm1(x * np.log1p(1e3)) / 1e3 * 4.0
    nodes = gauss_rule(ORDER).nodes
    panels = times[1:].reshape(-1, ORDER)
    lengths = (panels[:, -1] - panels[:, 0]) / (nodes[-1] - nodes[0])
    lefts = panels[:, 0] - lengths * nodes[0]
    return np.r_[lefts, lefts[-1] + lengths[-1]]


def _node_times(path):
    edges = _edges(path)
    return np.r_[0.0, (edges[:-1, None] + np.diff(edges)[:, None] * gauss_rule(ORDER).nodes).ravel()]


def test_panels_end_at_the_horizon_and_meet_the_start(linear_flow):
    *_, y, path = linear_flow
    assert np.isclose(_edges(path)[-1], 4.0)
    assert np.allclose(path.residuals[0], -y)
    assert (path.readout[0] == np.eye(len(path.residuals))[0]).all()


def test_standard_errors_of_least_squares_are_those_of_theory():
    """n > d and a long training: 2 T^2/n (1 + d/n)/(1 - d/n) is exact for Gaussian data; T is the estimate itself.

    The variance of u^2 over n samples has a relative standard error of sqrt(14/n), so the mean over 6 data sets of the
    standard error one of sqrt(14/240)/2/sqrt(6) = 0.05; three of these and 0.05 for d = 120, which is finite.
    """
    ratios = []
    for seed in range(6):
        X, y = draw(240, 120, seed, noise=1.0)
        found = invert(path_of(fl.Linear(), X, y, fl.GradientDescent(0.5, num_steps=60), probes=16, key=seed))
        ratios.append(found.samples_stderr[-1] / (found.test_error[-1] * np.sqrt(2.0 / 240 * 1.5 / 0.5)))
    assert abs(np.mean(ratios) - 1.0) < 0.2


def test_probes_are_orthogonal_until_directions_run_out():
    drawn = Probes(2, 10, seed=[0]).at(0, 25)
    assert np.allclose((drawn**2).sum(axis=-1), 10.0)
    for first in (0, 10):
        assert np.allclose(drawn[first : first + 10, 0] @ drawn[first : first + 10, 0].T, 10.0 * np.eye(10))
    assert not np.allclose(drawn[:10, 0], drawn[10:20, 0])
    assert not np.allclose(drawn[:10, 0], drawn[:10, 1])


def test_smooth_kicks_say_what_single_ones_do():
    """100 steps of linear descent: traces on a smooth function by 400 probes against exact ones, 4 standard errors."""
    X, y = draw(40, 20)
    path = path_of(fl.Linear(), X, y, fl.GradientDescent(STEP, num_steps=99), probes=400)
    assert path.basis.courses.shape == (100, 28)
    values = np.linalg.eigvalsh(X @ X.T * 20 / 40)
    lag = np.arange(100)[:, None] - np.arange(100) - 1
    powers = np.where(lag >= 0, (1.0 - STEP * values[:, None, None]) ** np.maximum(lag, 0), 0.0)
    exact = -STEP * np.einsum("k,kts->ts", values, powers) / 40
    course = np.exp(-np.linspace(0.0, 2.0, 100))
    found = traces_of(path) @ course
    stderr = found.std(axis=0, ddof=1) / np.sqrt(400)
    assert (np.abs(found.mean(axis=0) - exact @ course) < 4.0 * stderr + 2e-3).all()  # 2e-3: what courses miss
    assert invert(path).slip.max() < 0.01
