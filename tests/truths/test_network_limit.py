"""The diagonal network's limit where it is known otherwise: lazy at a large start, an ODE at infinite data."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import flowlimit as fl
from flowlimit.numerics.marchenko_pastur import marchenko_pastur

pytestmark = pytest.mark.slow

RHO2 = 0.1


def test_large_start_is_lazy():
    """At init scale 30 the network is linear in time alpha^2 t, up to (w / alpha^2)^2 = 1e-6 and the solver's error."""
    delta, noise, scale = 0.5, 0.01, 30.0
    times = np.array([0.1, 0.5, 1.0, 2.0]) / scale**2
    task = fl.Regression(delta, noise_var=noise, target=fl.Bernoulli(RHO2))
    limit = fl.solve_dmft(fl.DiagonalLinear(scale), task, fl.GradientFlow(times[-1]), save_at=times, rtol=1e-2)
    x, weights = marchenko_pastur(delta)
    decay = np.exp(-2.0 * x * scale**2 * times[:, None])
    fit = np.where(x > 0, (1 - np.sqrt(decay)) ** 2 / np.where(x > 0, x, 1.0), 0.0)
    train = (RHO2 * x * decay + noise / delta * decay) @ weights + (delta - 1) / delta * noise
    test = (RHO2 * decay + noise / delta * fit) @ weights + noise
    assert limit.train_error == pytest.approx(train, rel=1e-3)
    assert limit.test_error == pytest.approx(test, rel=1e-3)
    assert (np.abs(limit.test_error - test) <= 3 * limit.test_error_stderr + 1e-5 * test).all()


def test_infinite_data():
    """eq. (dmft_inf_delta) as the aspect ratio grows, approached like its inverse."""
    scale, decay, noise, horizon = 0.5, 0.1, 0.01, 4.0
    slope = lambda t, w: -np.sqrt(w**2 + scale**4 * np.exp(-2 * decay * t)) * (w - 1.0) - decay * w
    w = solve_ivp(slope, (0.0, horizon), [0.0], rtol=1e-10, atol=1e-12).y[0, -1]
    exact = RHO2 * (w - 1.0) ** 2 + noise
    errors = []
    for delta in (100.0, 1000.0):
        task = fl.Regression(delta, noise_var=noise, target=fl.Bernoulli(RHO2))
        limit = fl.solve_dmft(
            fl.DiagonalLinear(scale, weight_decay=decay),
            task,
            fl.GradientFlow(horizon),
            save_at=[0.0, horizon],
            rtol=1e-2,
        )
        errors.append(abs(limit.test_error[-1] / exact - 1.0))
    assert errors[1] < 2e-3
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.2)
