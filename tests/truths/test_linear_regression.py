"""`Linear` on concrete data against the closed solution in the eigenbasis of X^T X / delta."""

import numpy as np
import pytest

import flowlimit as fl

DECAY = 0.05


def spectral(dataset):
    X, y = np.asarray(dataset.X), np.asarray(dataset.y)
    samples, dim = X.shape
    rates, basis = np.linalg.eigh(X.T @ X * (dim / samples) + DECAY * np.eye(dim))
    return rates, basis, basis.T @ (X.T @ y) * (dim / samples)


@pytest.mark.slow
@pytest.mark.parametrize("horizon", [5.0, 5000.0], ids=["ordinary", "stabilised"])
def test_flow(dataset, horizon):
    """w(t) = sum_i b_i (1 - e^{-r_i t})/r_i e_i from w(0) = 0."""
    rates, basis, b = spectral(dataset)
    times = [0.0, horizon / 100, horizon]
    runs = fl.simulate(
        fl.Linear(weight_decay=DECAY),
        dataset,
        fl.GradientFlow(horizon),
        save_at=times,
        weights_at=times,
        rtol=1e-7,
        trials=1,
    )
    for t, w in zip(times, runs.weights[0], strict=True):
        assert np.abs(w - basis @ (b * -np.expm1(-rates * t) / rates)).max() < 1e-6


def test_descent(dataset):
    """w_i = sum b (1 - (1 - step r)^i)/r."""
    rates, basis, b = spectral(dataset)
    runs = fl.simulate(
        fl.Linear(weight_decay=DECAY), dataset, fl.GradientDescent(0.2, num_steps=300), weights_at=[60.0], trials=1
    )
    exact = basis @ (b * (1 - (1 - 0.2 * rates) ** 300) / rates)
    assert np.abs(runs.weights[0, 0] - exact).max() < 1e-12


def test_stability_edge(dataset):
    """Descent diverges exactly when the step exceeds 2 / (largest rate)."""
    edge = 2 / spectral(dataset)[0].max()
    for factor, diverges in ((0.98, False), (1.05, True)):
        training = fl.GradientDescent(factor * edge, num_steps=400)
        runs = fl.simulate(fl.Linear(weight_decay=DECAY), dataset, training, trials=1, throw=False)
        assert (runs.train_error[-1] > 1e3 * runs.train_error[0]) == diverges
