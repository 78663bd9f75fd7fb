"""`Linear` on features of unequal variances against equivalents; `benchmarks/linear_spectra.py` at dim 10^4."""

import numpy as np
import pytest
from equivalents import Equivalent, power_law

import flowlimit as fl

pytestmark = pytest.mark.slow

NOISE = 0.1

SPECTRA = {
    "two blocks": (
        fl.Features(variance=fl.Empirical([1.0, 0.1, 0.1]), target=fl.Normal(0.8)),
        (np.array([1.0, 0.1]), np.array([0.64, 0.64]), np.array([1 / 3, 2 / 3])),
        2.0,
    ),
    "power law": (fl.PowerLaw(60, capacity=1.2, source=1.5), power_law(60, 1.2, 1.5), 0.5),
}


@pytest.mark.parametrize("name", SPECTRA)
def test_descent(name):
    law, spectrum, delta = SPECTRA[name]
    step, steps = 0.4, 30
    task = fl.Regression(delta, noise_var=NOISE, features=law)
    limit = fl.solve_dmft(fl.Linear(), task, fl.GradientDescent(step, num_steps=steps), rtol=1e-4)
    exact = Equivalent(*spectrum, delta, NOISE)
    for i in (0, 1, 2, 3, 5, 8, 12, 18, 24, 30):
        train, test = exact.errors(lambda z, i=i: (1 - step * z) ** i)
        assert abs(limit.test_error[i] / test - 1) < 1e-7, i
        assert abs(limit.train_error[i] / train - 1) < 1e-7, i
    assert (limit.statistical["test_error"] / limit.test_error).max() < 1e-12


@pytest.mark.parametrize("name", SPECTRA)
def test_flow(name):
    law, spectrum, delta = SPECTRA[name]
    task = fl.Regression(delta, noise_var=NOISE, features=law)
    times = [0.0, 0.1, 0.3, 0.6, 1.0, 1.4, 1.8, 2.4, 3.0, 4.0]
    limit = fl.solve_dmft(fl.Linear(), task, fl.GradientFlow(4.0), rtol=1e-5, save_at=times)
    exact = Equivalent(*spectrum, delta, NOISE)
    for t, own_train, own_test in zip(times, limit.train_error, limit.test_error, strict=True):
        train, test = exact.errors(lambda z, t=t: np.exp(-z * t))
        assert abs(own_test / test - 1) < 1e-6, t
        assert abs(own_train / train - 1) < 1e-6, t
    assert (limit.statistical["test_error"] / limit.test_error).max() < 1e-9
