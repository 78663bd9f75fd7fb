"""Finite-size minimisers against scikit-learn, a conic solver and their own optimality conditions; message passing."""

import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl


def make_data(samples, dim, seed=0, noise=0.1, sparsity=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(samples, dim)) / np.sqrt(dim)
    w_star = (rng.random(dim) < sparsity) * 1.0
    return fl.Dataset(X, X @ w_star + noise * rng.normal(size=samples), w_star=w_star, noise_var=noise**2)


@pytest.mark.parametrize(("samples", "weight_decay"), [(60, 0.05), (60, 0.5), (180, 0.2), (60, 1e-3), (60, 50.0)])
def test_lasso_against_scikit_learn(samples, weight_decay):
    sklearn_linear = pytest.importorskip("sklearn.linear_model")  # here: it takes a second to import
    data = make_data(samples, 120)
    found = fl.minimizer(fl.DiagonalLinear(0.3, weight_decay=weight_decay), data)
    other = sklearn_linear.Lasso(alpha=weight_decay / 120, fit_intercept=False, tol=1e-12, max_iter=1_000_000)
    other.fit(np.asarray(data.X), np.asarray(data.y))
    assert found.residual < 1e-12
    np.testing.assert_allclose(found.w, other.coef_, atol=1e-6)


def test_lasso_of_correlated_columns():
    """Far from independent entries, where message passing does not converge."""
    data = make_data(60, 120)
    mixing = np.eye(120) + 3.0 / 120
    correlated = fl.Dataset(np.asarray(data.X) @ mixing, data.y)
    found = fl.minimizer(fl.DiagonalLinear(0.3, weight_decay=0.1), correlated)
    pull = np.asarray(correlated.X).T @ (np.asarray(data.y) - np.asarray(correlated.X) @ found.w) / 0.5
    active = found.w != 0.0
    np.testing.assert_allclose(pull[active], 0.1 * np.sign(found.w[active]), atol=1e-8)
    assert np.abs(pull[~active]).max() <= 0.1
    with pytest.warns(UserWarning, match="mean square"):
        shifted = fl.Dataset(np.asarray(data.X) + 1.0, data.y)
    with pytest.raises(fl.FlowlimitError, match=r"use fl\.minimizer"):
        fl.amp(fl.DiagonalLinear(0.3, weight_decay=0.001), shifted, num_steps=50)


@pytest.mark.parametrize("init_scale", [0.1, 1.0])
def test_interpolator_against_a_conic_solver(init_scale):
    cvxpy = pytest.importorskip("cvxpy")
    data, scale = make_data(20, 40), init_scale**2
    p, q = cvxpy.Variable(40), cvxpy.Variable(40)
    entropy = cvxpy.sum(cvxpy.kl_div(p, scale / 2) + cvxpy.kl_div(q, scale / 2))
    problem = cvxpy.Problem(cvxpy.Minimize(entropy), [np.asarray(data.X) @ (p - q) == np.asarray(data.y)])
    problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13)
    found = fl.minimizer(fl.DiagonalLinear(init_scale), data)
    np.testing.assert_allclose(found.w, p.value - q.value, atol=2e-5)


@pytest.mark.parametrize("init_scale", [1e-4, 1e-2, 1.0, 1e3])
def test_interpolator_conditions(init_scale):
    """X w = y, and asinh(w/alpha^2) in the span of the rows: checked by least squares."""
    data = make_data(50, 100)
    found = fl.minimizer(fl.DiagonalLinear(init_scale), data)
    X = np.asarray(data.X)
    np.testing.assert_allclose(X @ found.w, np.asarray(data.y), atol=1e-11)
    mirror = np.arcsinh(found.w / init_scale**2)
    nu = np.linalg.lstsq(X.T, mirror, rcond=None)[0]
    np.testing.assert_allclose(X.T @ nu, mirror, atol=1e-8 * np.abs(mirror).max())


def test_interpolator_with_a_scale_for_each_coordinate():
    data = make_data(20, 40)
    one = fl.minimizer(fl.DiagonalLinear(0.3), data)
    same = fl.minimizer(fl.DiagonalLinear(np.full(40, 0.3)), data)
    np.testing.assert_allclose(one.w, same.w, rtol=1e-9)


@pytest.mark.slow
def test_ends_of_runs():
    """Gradient flow of the network on one data set ends at the minimiser, in all three cases."""
    for samples, weight_decay, horizon in ((20, 0.0, 400.0), (120, 0.0, 800.0), (20, 0.2, 4000.0)):
        data, model = make_data(samples, 40, noise=0.3), fl.DiagonalLinear(0.7, weight_decay=weight_decay)
        runs = fl.simulate(model, data, fl.GradientFlow(horizon), rtol=1e-9, weights_at=[horizon])
        found = fl.minimizer(model, data)
        np.testing.assert_allclose(runs.weights[0, 0], found.w, atol=2e-3 if weight_decay else 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("samples", "weight_decay", "noise"), [(500, 0.1, 0.1), (500, 0.0, 0.1), (1500, 0.0, 0.5)])
def test_message_passing(samples, weight_decay, noise):
    """It reaches the minimiser, on the way that state evolution predicts: within 4 standard errors of some 1/sqrt(dim).

    The errors of 1000 coordinates fluctuate by about 1/sqrt(1000) of themselves times a factor below 3.
    """
    data, model = (
        make_data(samples, 1000, seed=3, noise=noise, sparsity=0.1),
        fl.DiagonalLinear(0.5, weight_decay=weight_decay),
    )
    found, exact = fl.amp(model, data, num_steps=200), fl.minimizer(model, data)
    np.testing.assert_allclose(found.w, exact.w, atol=1e-6)
    task = fl.Regression(samples / 1000, noise_var=noise**2, target=fl.Bernoulli(0.1))
    evolution = fl.state_evolution(model, task, num_steps=200)
    early = slice(0, 12)
    bound = 4.0 * 3.0 / np.sqrt(1000)
    np.testing.assert_allclose(found.test_error[early], evolution.test_error[early], rtol=bound)
    np.testing.assert_allclose(found.noise_std[early], evolution.noise_std[early], rtol=bound)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("aspect_ratio", "weight_decay"), [(0.5, 0.1), (2.0, 0.02), (0.5, 0.0), (0.9, 0.0), (1.5, 0.0)]
)
def test_state_evolution_reaches_the_fixed_point(aspect_ratio, weight_decay):
    model, task = (
        fl.DiagonalLinear(0.4, weight_decay=weight_decay),
        fl.Regression(aspect_ratio, noise_var=0.05, target=fl.SparseRademacher(0.2)),
    )
    evolution, point = fl.state_evolution(model, task, num_steps=400), fl.fixed_point(model, task)
    assert float(evolution.test_error[-1]) == pytest.approx(float(point.test_error), rel=1e-10)
    assert float(evolution.noise_std[-1]) == pytest.approx(float(point.noise_std), rel=1e-10)
    if point.case != "ridgeless":
        assert float(evolution.strength[-1]) == pytest.approx(float(point.strength), rel=1e-10)
    share = 1.0 if point.case == "interpolating" else float(point.chi_w / (1.0 + point.chi_w))
    assert float(evolution.onsager[-1]) == pytest.approx(share, rel=1e-10)


@pytest.mark.slow
def test_drawn_data_are_those_of_a_trial():
    """The end of one simulated trial is the minimiser on the data set drawn for it."""
    model, task = fl.DiagonalLinear(0.7), fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.2))
    runs = fl.simulate(model, task, fl.GradientFlow(400.0), dim=40, trials=3, key=5, rtol=1e-9, weights_at=[400.0])
    found = fl.minimizer(model, fl.draw(task, dim=40, key=5, trial=2))
    np.testing.assert_allclose(runs.weights[2, 0], found.w, atol=1e-6)


def test_refusals():
    data = make_data(20, 40)
    with pytest.raises(TypeError, match="depth 2"):
        fl.minimizer(fl.DiagonalLinear(0.3, depth=3), data)
    with pytest.raises(TypeError, match="law for init_scale"):
        fl.minimizer(fl.DiagonalLinear(fl.PointMass(0.3)), data)
    with pytest.raises(ValueError, match=r"needs \(40,\)"):
        fl.minimizer(fl.DiagonalLinear(np.ones(3)), data)
    with pytest.raises(ValueError, match="rank"):
        fl.minimizer(fl.DiagonalLinear(0.3), fl.Dataset(np.ones((4, 2)), np.ones(4)))
    twice = fl.Dataset(np.ones((2, 4)), jnp.array([1.0, 2.0]))  # contradictory labels cannot be interpolated
    with pytest.raises(fl.FlowlimitError, match="interpolating minimiser"):
        fl.minimizer(fl.DiagonalLinear(0.3), twice)
    assert fl.amp(fl.DiagonalLinear(0.3), data, num_steps=2).result.code == fl.Code.TOLERANCE
