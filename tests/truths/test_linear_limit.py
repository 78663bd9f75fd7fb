"""The limit of `Linear` against Marchenko-Pastur integrals: lazy kernels after eq. (dmft_lazy), exact descent."""

import numpy as np
import pytest

import flowlimit as fl
from flowlimit.asymptotics.lazy import lazy_kernels
from flowlimit.numerics.marchenko_pastur import marchenko_pastur

pytestmark = pytest.mark.slow

RHO2, NOISE = 0.3, 0.1


@pytest.fixture(scope="module", params=[0.5, 2.0])
def lazy(request):
    task = fl.Regression(request.param, noise_var=NOISE, target=fl.Bernoulli(RHO2))
    return request.param, fl.solve_dmft(fl.Linear(), task, fl.GradientFlow(1.0), rtol=1e-8)


def test_kernels_are_the_lazy_solution(lazy):
    delta, limit = lazy
    kernels, order = limit.kernels, 8
    panel = np.arange(len(kernels.times)) // order
    off_diagonal, inside = panel[:, None] > panel[None, :], panel[:, None] == panel[None, :]
    task = fl.Regression(delta, noise_var=NOISE, target=fl.Bernoulli(RHO2))
    for name, exact in lazy_kernels(task, kernels.times)._asdict().items():
        error = np.abs(getattr(kernels, name) - exact)
        assert error[off_diagonal].max() < 1e-8, name
        if name.startswith("C"):
            assert error.max() < 1e-8, name
        else:  # fitted inside a panel, to a lower order
            assert error[inside & np.tri(len(panel), dtype=bool)].max() < 1e-4, name
            assert np.abs(getattr(kernels, name)[~np.tri(len(panel), dtype=bool)]).max() == 0.0


def test_operators_act_on_polynomials(lazy):
    """The integral of R_w(t, s) s^n over s, for n = 0 and 1."""
    delta, limit = lazy
    x, weights = marchenko_pastur(delta)
    t = limit.operators.times[:, None]
    positive = np.where(x > 0, x, 1.0)
    constant = np.where(x > 0, (1 - np.exp(-x * t)) / positive, t)
    linear = np.where(x > 0, (t - constant) / positive, t**2 / 2)
    for power, exact in ((0, constant), (1, linear)):
        result = limit.operators.R_w @ limit.operators.times**power
        assert np.abs(result - exact @ weights / delta).max() < 1e-8


def test_no_sampling_error(lazy):
    """Moments are matched, so all replicas are the same to rounding."""
    _, limit = lazy
    assert limit.values["test_error"].std(axis=0).max() < 1e-10
    assert limit.result.code == fl.Code.SUCCESSFUL


@pytest.mark.parametrize("target", [fl.Normal(), fl.SparseRademacher(0.4)], ids=["gauss", "atoms"])
def test_descent_is_exact(target):
    """Ridge regression from a random, correlated start: the mean over the spectrum of (1 - step (x + decay))^i."""
    delta, noise, decay, overlap, step, steps = 3.0, 0.05, 1 / 6, 0.2, 0.3, 30
    task = fl.Regression(delta, noise_var=noise, target=target)
    model = fl.Linear(decay, init_scale=1.0, init_overlap=overlap)
    limit = fl.solve_dmft(model, task, fl.GradientDescent(step, num_steps=steps), rtol=1e-2)
    x, weights = marchenko_pastur(delta)
    rho2 = float(target.second_moment)
    power = (1 - step * (x + decay)) ** np.arange(steps + 1)[:, None]
    # w - w* = (start - w*) power - (decay w* - noise part)(1 - power)/(x + decay), in the eigenbasis
    gone = (1 - power) / (x + decay)
    on_target = (overlap - 1) * power - decay * gone
    test = (rho2 * on_target**2 + power**2 + noise / delta * x * gone**2) @ weights + noise
    assert np.abs(limit.test_error / test - 1).max() < 1e-10
    # residual X(w - w*) - xi: the noise outside and inside the column space
    spread = (x * (rho2 * on_target**2 + power**2) + noise / delta * (1 - x * gone) ** 2) @ weights
    train = spread + noise * (1 - 1 / delta)
    assert np.abs(limit.train_error / train - 1).max() < 1e-10
