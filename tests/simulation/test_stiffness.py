"""Chunks of time, bounds of the spectrum, and scales of a flow, each against its definition."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.problem.flow import make_flow
from flowlimit.simulation.control import label_scale, theta_size
from flowlimit.simulation.rows import Rows
from flowlimit.simulation.schedule import next_piece
from flowlimit.simulation.stiffness import contraction, largest_eigenvalue, spectral_radius

FLOW = fl.GradientFlow(1.0)


@pytest.mark.parametrize("samples", [20, 60])
def test_largest_eigenvalue(samples):
    """Of X^T X / delta, low by at most a few percent."""
    X = np.random.default_rng(0).normal(size=(samples, 40)) / np.sqrt(40)
    exact = np.linalg.eigvalsh(X.T @ X).max() * 40 / samples
    assert 0.95 * exact < float(largest_eigenvalue(jnp.asarray(X), Rows(samples))) <= exact * (1.0 + 1e-12)


def test_radius_bounds_the_spectrum():
    """Against the eigenvalues of the whole Jacobian of a small network's flow in (u, v)."""
    rng, dim, samples = np.random.default_rng(1), 12, 8
    X, y = jnp.asarray(rng.normal(size=(samples, dim)) / np.sqrt(dim)), jnp.asarray(rng.normal(size=samples))
    flow = make_flow(fl.DiagonalLinear(0.5, weight_decay=0.1, depth=3), fl.Dataset(X, y), FLOW)
    theta, t = jnp.asarray(rng.uniform(0.4, 1.2, size=(2, dim))), jnp.zeros(())
    gradient = lambda theta: X.T @ (X @ flow.readout_rows(t, theta) - y) * (dim / samples)
    field = lambda flat: flow.drift_rows(t, flat.reshape(2, dim), gradient(flat.reshape(2, dim))).ravel()
    exact = np.abs(np.linalg.eigvals(np.asarray(jax.jit(jax.jacfwd(field))(theta.ravel())))).max()
    curvature = jnp.asarray(np.linalg.eigvalsh(np.asarray(X.T @ X)).max() * dim / samples)
    bound = float(jax.jit(lambda theta: spectral_radius(flow, t, theta, gradient(theta), curvature))(theta))
    assert exact <= bound < 4.0 * exact


def test_contraction_of_a_network():
    """C A = -(u^2 + v^2)/2 at depth 2: w = (u^2 - v^2)/2 and u' = -u g/2."""
    flow = make_flow(
        fl.DiagonalLinear(0.5, truncation=1e6), fl.Regression(1.0, noise_var=0.0, target=fl.Normal()), FLOW
    )
    theta = jnp.array([[0.5, 1.2], [0.3, -0.7]])
    found = jax.jit(lambda theta, g: contraction(flow, jnp.zeros(()), theta, g))(theta, jnp.array([0.4, -2.0]))
    assert np.asarray(found) == pytest.approx([-(0.25 + 0.09) / 2, -(1.44 + 0.49) / 2])


def test_scales_go_with_the_size_of_labels_and_starts():
    for size in (1e-3, 0.2):
        assert float(label_scale(jnp.asarray(2.0 * size**2))) == pytest.approx(size * np.sqrt(2.0))
        assert float(theta_size(jnp.full((2, 5), size))) == pytest.approx(size)
    assert float(theta_size(jnp.full(3, 7.0))) == float(theta_size(jnp.zeros(3))) == 1.0
    assert float(label_scale(jnp.zeros(()))) == 1.0


@pytest.mark.parametrize(("budget", "slots"), [(np.inf, 4), (3.0, 4), (1.5, 64), (np.inf, 64)])
def test_chunks_save_every_target_once(budget, slots):
    """Whatever the budget, each saved position comes once, and chunks end where weights are wanted."""
    saves, weights = np.array([0.0, 1.0, 2.0, 3.5, 5.0, 8.0, 9.0]), np.array([2.0, 8.0])
    done, position, seen, kept = 0, 0.0, [], []
    while done < len(saves):
        chunk, saved, wants_weights = next_piece(saves, weights, done, position, budget, slots)
        assert saved or float(chunk.stop) > position  # or it would never end
        assert float(chunk.stop) <= position + budget
        assert np.asarray(chunk.targets)[saved:] == pytest.approx(float(chunk.stop))
        seen += np.asarray(chunk.targets)[:saved].tolist()
        kept += [float(chunk.stop)] * bool(wants_weights)
        done, position = done + saved, float(chunk.stop)
    assert seen == saves.tolist()
    assert kept == weights.tolist()


def test_radius_of_a_linear_model():
    """It is exact there, curvature and weight decay, with a tenth to spare."""
    flow = make_flow(fl.Linear(weight_decay=0.3), fl.Regression(1.0, noise_var=0.0, target=fl.Normal()), FLOW)
    found = spectral_radius(flow, jnp.zeros(()), jnp.ones(4), jnp.ones(4), jnp.array(4.9))
    assert float(found) == pytest.approx(1.1 * (4.9 + 0.3))
