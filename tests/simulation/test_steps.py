"""Gradient descent against a plain NumPy loop over (u, v) on the same data."""

import itertools

import numpy as np
import pytest

import flowlimit as fl


def numpy_eta(x, bound):
    """The paper's eta_M and its derivative, by hand."""
    if bound is None:
        return x, np.ones_like(x)
    s = np.clip(np.abs(x) - bound, 1e-12, 1 - 1e-12)
    low, high = np.exp(-1 / s), np.exp(-1 / (1 - s))
    step = np.where(np.abs(x) <= bound, 0.0, np.where(np.abs(x) >= bound + 1, 1.0, low / (low + high)))
    slope = low * high * (1 / s**2 + 1 / (1 - s) ** 2) / (low + high) ** 2
    slope = np.where((np.abs(x) <= bound) | (np.abs(x) >= bound + 1), 0.0, slope)
    return (1 - step) * x, 1 - step - slope * np.sign(x) * x


def numpy_loop(X, y, alpha, decay, depth, bound, step_size, num_steps):
    """w after each step; u' = -(1/2)(decay u + u^{L-1} eta'(u^L) g), v' = -(1/2)(decay v - v^{L-1} eta'(v^L) g)."""
    samples, dim = X.shape
    u, v, path = np.full(dim, alpha), np.full(dim, alpha), []
    for _ in range(num_steps + 1):
        (pu, du), (pv, dv) = numpy_eta(u**depth, bound), numpy_eta(v**depth, bound)
        w = (pu - pv) / depth
        path.append(w)
        g = X.T @ (X @ w - y) * (dim / samples)
        u, v = (
            u - step_size / 2 * (decay * u + u ** (depth - 1) * du * g),
            v - step_size / 2 * (decay * v - v ** (depth - 1) * dv * g),
        )
    return np.array(path)


CASES = list(itertools.product([2, 3, 4], [None, 0.6], [0.0, 0.2]))


@pytest.mark.slow
@pytest.mark.parametrize(("depth", "truncation", "decay"), CASES)
def test_equals_a_plain_loop(depth, truncation, decay, dataset):
    """w after 100 steps to 1e-12 in relative norm; train and test errors along the way."""
    X, y, w_star = (np.asarray(a) for a in (dataset.X, dataset.y, dataset.w_star))
    scales = [0.3, 0.9]
    models = [fl.DiagonalLinear(a, weight_decay=decay, depth=depth, truncation=truncation) for a in scales]
    results = fl.simulate(models, dataset, fl.GradientDescent(0.1, num_steps=100), weights_at=[5.0, 10.0])
    for scale, runs in zip(scales, results, strict=True):
        path = numpy_loop(X, y, scale, decay, depth, truncation, 0.1, 100)
        assert runs.weights.shape == (1, 2, X.shape[1])
        for kept, step in zip(runs.weights[0], (50, 100), strict=True):
            assert np.linalg.norm(kept - path[step]) <= 1e-12 * np.linalg.norm(path[step])
        assert np.allclose(runs.train_error, ((path @ X.T - y) ** 2).mean(axis=1), rtol=1e-11)
        assert np.allclose(runs.test_error, ((path - w_star) ** 2).mean(axis=1) + 0.01, rtol=1e-11)
        assert np.allclose(runs["norm_1"].value, np.abs(path).mean(axis=1), rtol=1e-11)
        assert np.allclose(runs["norm_2"].value, np.sqrt((path**2).mean(axis=1)), rtol=1e-11)


def test_truncation_bites():
    """The truncated cases above differ from the others, or they would show nothing."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(40, 60)) / np.sqrt(60)
    y = X @ np.ones(60)
    free, bound = (numpy_loop(X, y, 0.9, 0.0, 2, m, 0.1, 100)[-1] for m in (None, 0.6))
    assert np.linalg.norm(free - bound) > 0.1


@pytest.mark.slow
def test_linear_start_and_overlap(task):
    """w(0) = init_overlap w* + init_scale N(0, 1): test error at the start, within 5 standard errors."""
    model = fl.Linear(init_scale=0.5, init_overlap=0.2)
    runs = fl.simulate(model, task, fl.GradientDescent(0.1, num_steps=1), dim=500, trials=40)
    exact = (1 - 0.2) ** 2 * 0.1 + 0.5**2 + 0.01
    assert abs(runs.test_error[0] - exact) < 5 * runs.test_error_stderr[0]


@pytest.mark.slow
def test_a_scale_for_each_coordinate(dataset):
    X, y = np.asarray(dataset.X), np.asarray(dataset.y)
    scales = np.linspace(0.1, 1.0, X.shape[1])
    runs = fl.simulate(fl.DiagonalLinear(scales), dataset, fl.GradientDescent(0.1, num_steps=30), weights_at=[3.0])
    path = numpy_loop(X, y, scales, 0.0, 2, None, 0.1, 30)
    assert np.linalg.norm(runs.weights[0, 0] - path[-1]) <= 1e-12 * np.linalg.norm(path[-1])
    flow = fl.simulate(fl.DiagonalLinear(scales), dataset, fl.GradientFlow(3.0), weights_at=[3.0])
    assert np.linalg.norm(runs.weights - flow.weights) < 0.2 * np.linalg.norm(flow.weights)


@pytest.mark.slow
def test_random_scales(task):
    """An init scale drawn from a law: |w_1| after one step is known in mean, E[alpha^2 |g|] step_size."""
    law = fl.Empirical([0.2, 0.4])
    models = [fl.DiagonalLinear(law), fl.DiagonalLinear(np.sqrt((0.04 + 0.16) / 2))]
    runs, fixed = (
        fl.simulate(model, task, fl.GradientDescent(0.01, num_steps=1), dim=800, trials=20) for model in models
    )
    spread = np.hypot(runs["norm_1"].stderr[1], fixed["norm_1"].stderr[1])
    assert abs(runs["norm_1"].value[1] - fixed["norm_1"].value[1]) < 5 * spread


def test_observables_and_sparse_saves(dataset):
    X, y, w_star = (np.asarray(a) for a in (dataset.X, dataset.y, dataset.w_star))
    runs = fl.simulate(
        fl.DiagonalLinear(0.5),
        dataset,
        fl.GradientDescent(0.1, num_steps=700),
        save_at=[0.3, 40.0, 70.0],
        observables={"overlap": lambda w, w_star: w * w_star, "cube": lambda w, w_star: w**3},
    )
    path = numpy_loop(X, y, 0.5, 0.0, 2, None, 0.1, 700)[[3, 400, 700]]
    assert runs.times == pytest.approx([0.3, 40.0, 70.0])
    assert np.allclose(runs["overlap"].value, (path * w_star).mean(axis=1), rtol=1e-10)
    assert np.allclose(runs["cube"].value, (path**3).mean(axis=1), rtol=1e-10)


def test_data_without_a_target(dataset):
    bare = fl.Dataset(dataset.X, dataset.y)
    runs = fl.simulate(fl.DiagonalLinear(0.5), bare, fl.GradientDescent(0.1, num_steps=5))
    assert "test_error" not in runs.curves
    with pytest.raises(AttributeError, match="no curve 'test_error'; there are train_error, loss"):
        _ = runs.test_error
