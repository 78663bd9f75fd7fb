"""The lazy solution against one large matrix, and its kernels against each other."""

import numpy as np
import pytest

import flowlimit as fl
from flowlimit.asymptotics.lazy import lazy_errors, lazy_kernels

RHO2, NOISE, TIMES = 0.3, 0.2, np.array([0.0, 0.4, 1.5, 4.0])


@pytest.mark.parametrize("delta", [0.5, 2.0])
def test_errors_of_a_large_matrix(delta):
    """Gradient flow of least squares with one drawn X: errors averaged over w* and noise, as traces.

    Spectral averages of a matrix of dim 300 differ from their limit by some 1/300; 1% is allowed.
    """
    dim = 300
    samples = int(delta * dim)
    X = np.random.default_rng(0).normal(size=(samples, dim)) / np.sqrt(dim)
    rates, basis = np.linalg.eigh(X.T @ X / delta)
    found = lazy_errors(fl.Regression(delta, noise_var=NOISE, target=fl.Bernoulli(RHO2)), TIMES)
    for t, train, test in zip(TIMES, found.train_error, found.test_error, strict=True):
        left = (basis * np.exp(-rates * t)) @ basis.T  # w - w* = -left w* + gained xi
        safe = np.maximum(rates, 1e-12)
        gained = (basis * (-np.expm1(-safe * t) / safe)) @ basis.T @ X.T / delta
        exact_test = (RHO2 * (left**2).sum() + NOISE * (gained**2).sum()) / dim + NOISE
        exact_train = (RHO2 * ((X @ left) ** 2).sum() + NOISE * ((X @ gained - np.eye(samples)) ** 2).sum()) / samples
        assert (train, test) == pytest.approx((exact_train, exact_test), rel=0.01)


@pytest.mark.parametrize("delta", [0.5, 2.0])
def test_kernels_agree_with_errors_and_each_other(delta):
    """C_f and C_w + sigma^2 at equal times are the errors; R_f is minus the slope of R_w, which begins at 1/delta."""
    task, times = fl.Regression(delta, noise_var=NOISE, target=fl.Bernoulli(RHO2)), np.linspace(0.0, 0.4, 41)
    kernels, errors = lazy_kernels(task, times), lazy_errors(task, times)
    assert np.diagonal(kernels.C_f) == pytest.approx(errors.train_error, rel=1e-10)
    assert np.diagonal(kernels.C_w) + NOISE == pytest.approx(errors.test_error, rel=1e-10)
    assert np.diagonal(kernels.R_w) == pytest.approx(1.0 / delta)
    step = times[1]
    slope = (kernels.R_w[2:, 0] - kernels.R_w[:-2, 0]) / (2.0 * step)
    assert -slope == pytest.approx(kernels.R_f[1:-1, 0], rel=1e-3)
    assert np.abs(np.triu(kernels.R_w, 1)).max() == 0.0
    # before training nothing depends on the noise of labels: C_w(t, 0) decays as the mean weight does
    assert kernels.C_w[:, 0] == pytest.approx(RHO2 * delta * kernels.R_w[:, 0], rel=1e-10)
