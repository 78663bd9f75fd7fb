"""Models: the drift is the paper's gradient, coordinates agree, and reparametrisations give the named models."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.problem.models.diagonal import MirrorDiagonal, MirrorDiagonalVaried

ZERO = jnp.zeros(())


def paper_loss(model, X, y, theta):
    """(1/2n)|y - Xw|^2 + (lambda/2d)(|u|^2 + |v|^2), eq. (loss), with the truncated network's w."""
    u, v = theta
    L, samples, dim = model.depth, *X.shape

    def eta(x):
        if model.truncation is None:
            return x
        s = jnp.clip(jnp.abs(x) - model.truncation, 1e-3, 1.0 - 1e-3)
        step = jnp.exp(-1 / s) / (jnp.exp(-1 / s) + jnp.exp(-1 / (1 - s)))
        return (1.0 - step) * x

    w = (eta(u**L) - eta(v**L)) / L
    penalty = model.weight_decay / (2 * dim) * (jnp.sum(u**2) + jnp.sum(v**2))
    return jnp.sum((y - X @ w) ** 2) / (2 * samples) + penalty


@pytest.mark.slow
@pytest.mark.parametrize("depth", [2, 3, 4])
@pytest.mark.parametrize("truncation", [None, 1.0])
@pytest.mark.parametrize("weight_decay", [0.0, 0.3])
def test_drift_is_the_gradient_of_the_papers_loss(depth, truncation, weight_decay):
    """d theta/dt = -(d/2) grad L, eq. (df_dln), with g = X^T (X w - y)/delta."""
    model = fl.DiagonalLinear(0.5, weight_decay=weight_decay, depth=depth, truncation=truncation)
    rng = np.random.default_rng(depth)
    samples, dim = 12, 8
    X, y = jnp.asarray(rng.normal(size=(samples, dim))), jnp.asarray(rng.normal(size=samples))
    theta = jnp.asarray(rng.uniform(0.2, 1.3, size=(2, dim)))  # |u|^L reaches into the truncated range
    w = jax.vmap(model.weight, in_axes=(None, -1))(ZERO, theta)
    g = X.T @ (X @ w - y) * (dim / samples)
    drift = jax.vmap(model.drift, in_axes=(None, -1, -1), out_axes=-1)(ZERO, theta, g)
    exact = -(dim / 2) * jax.grad(lambda theta: paper_loss(model, X, y, theta))(theta)
    assert np.allclose(drift, exact, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weight_decay", [0.0, 0.2])
def test_loss_of_simulation_is_the_papers(weight_decay, dataset):
    model = fl.DiagonalLinear(0.5, weight_decay=weight_decay, depth=3)
    runs = fl.simulate(model, dataset, fl.GradientDescent(0.1, num_steps=1))
    theta = jnp.full((2, dataset.X.shape[1]), 0.5)
    assert runs["loss"].value[0] == pytest.approx(float(paper_loss(model, dataset.X, dataset.y, theta)), rel=1e-13)


def test_reparametrized_equals_linear():
    named, own = fl.Linear(weight_decay=0.3), fl.Reparametrized(lambda x: x, init=0.0, weight_decay=0.3, rate=1.0)
    theta, g = jnp.array(0.7), jnp.array(-1.3)
    assert float(named.drift(ZERO, theta, g)) == pytest.approx(float(own.drift(ZERO, theta, g)), rel=1e-15)
    assert float(named.penalty(ZERO, theta)) == pytest.approx(float(own.penalty(ZERO, theta)), rel=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [3, 4])
def test_reparametrized_equals_diagonal(depth, dataset):
    """Rate 1/2 and w = (u^L - v^L)/L: the same runs, by gradient descent and by flow; depth 2 is in test_flows.py."""
    named = fl.DiagonalLinear(0.4, weight_decay=0.1, depth=depth)
    own = fl.Reparametrized(
        lambda x: (x[0] ** depth - x[1] ** depth) / depth, init=[0.4, 0.4], weight_decay=0.1, rate=0.5
    )
    for training, tolerance in ((fl.GradientDescent(0.1, num_steps=60), 1e-12), (fl.GradientFlow(6.0), 1e-5)):
        a, b = fl.simulate([named, own], dataset, training)
        for name in a.curves:
            assert np.allclose(a[name].value, b[name].value, rtol=tolerance, atol=tolerance), name


def test_mirror_is_chosen_where_there_is_one():
    assert isinstance(fl.DiagonalLinear(0.3).flow_form(), MirrorDiagonal)
    assert isinstance(fl.DiagonalLinear(fl.Empirical([0.1, 0.5])).flow_form(), MirrorDiagonalVaried)
    for model in (fl.DiagonalLinear(0.3, depth=3), fl.DiagonalLinear(0.3, truncation=1.0), fl.Linear()):
        assert model.flow_form() is model


@pytest.mark.parametrize("init_scale", [1e-4, 0.3, 10.0])
@pytest.mark.parametrize("weight_decay", [0.0, 0.2])
def test_mirror_obeys_the_papers_equation_for_w(init_scale, weight_decay):
    """dw/dt = -sqrt(w^2 + alpha^4 e^{-2 lambda t}) g - lambda w, eq. (dmft_w), along the mirror's drift."""
    model = fl.DiagonalLinear(init_scale, weight_decay=weight_decay).flow_form()
    t, theta, g = jnp.array(1.7), jnp.array(0.8), jnp.array(-0.6)
    drift = model.drift(t, theta, g)
    w, dw = jax.jvp(model.weight, (t, theta), (jnp.ones(()), drift))
    exact = -jnp.sqrt(w**2 + init_scale**4 * jnp.exp(-2 * weight_decay * t)) * g - weight_decay * w
    assert float(dw) == pytest.approx(float(exact), rel=1e-12)


def test_mirror_penalty_is_that_of_u_and_v():
    """lambda (u^2 + v^2)/2 with u^2 - v^2 = 2 w and u v = alpha^2 e^{-lambda t}."""
    model = fl.DiagonalLinear(0.5, weight_decay=0.3).flow_form()
    t, theta = jnp.array(2.0), jnp.array(-1.1)
    w, uv = float(model.weight(t, theta)), 0.25 * np.exp(-0.6)
    assert float(model.penalty(t, theta)) == pytest.approx(0.3 * np.sqrt(w**2 + uv**2), rel=1e-13)


def test_init_laws():
    model = fl.Reparametrized(lambda x: x, init=fl.Normal(2.0))
    assert model.num_normals == 2
    assert float(model.init(jnp.array([0.3, -1.0]), ZERO)) == -2.0
    start = fl.Reparametrized(lambda x: x, init=lambda normals, w_star: w_star + normals[0], num_normals=1)
    assert float(start.init(jnp.array([0.5]), jnp.array(2.0))) == 2.5
    linear = fl.Linear(init_scale=2.0, init_overlap=0.5)
    assert float(linear.init(jnp.array([3.0]), jnp.array(4.0))) == 8.0


@pytest.mark.parametrize("weight_decay", [0.0, 0.2])
def test_scales_that_vary_follow_the_same_equations(weight_decay):
    """With all scales equal, the mirror coordinate with a scale of its own is the one with a common scale."""
    one, own = (fl.DiagonalLinear(scale, weight_decay=weight_decay).flow_form() for scale in (0.6, fl.PointMass(0.6)))
    assert isinstance(own, MirrorDiagonalVaried)
    start = own.init(jnp.array([0.3, -0.4]), jnp.array(1.0))
    assert float(start[0]) == float(one.init(jnp.zeros(0), jnp.array(1.0)))
    t, theta, g = jnp.array(1.7), jnp.array(0.8), jnp.array(-0.6)
    both = start.at[0].set(theta)
    assert float(own.weight(t, both)) == pytest.approx(float(one.weight(t, theta)), rel=1e-13)
    assert float(own.penalty(t, both)) == pytest.approx(float(one.penalty(t, theta)), rel=1e-13)
    assert own.drift(t, both, g).tolist() == [float(one.drift(t, theta, g)), 0.0]
