"""Losses other than the squared one: formulas and the stochastic samples side; against runs: tests/conformance."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.dmft.sampling.paths import Counts, Part
from flowlimit.dmft.sampling.sample_paths import draw_sample_cloud
from flowlimit.numerics.quasirandom import sobol_normals
from flowlimit.numerics.singular_root import singular_root, whiten
from flowlimit.problem.losses import Moments, gaussian_mean

SQUARE = {"label": lambda f_star, n: f_star + 0.1 * n, "loss": lambda f, y: 0.5 * (f - y) ** 2}
LOSSES = {
    "squared": fl.CustomLoss(**SQUARE, error=lambda f, y: (f - y) ** 2, is_difference=True),
    "quartic": fl.CustomLoss(label=lambda f_star, n: f_star**2, loss=lambda f, y: 0.25 * (f**2 - y) ** 2),
    "huber": fl.HuberLoss(threshold=0.7, noise_std=0.5, tail=1.0),
    "logistic": fl.LogisticLoss(),
    "random labels": fl.LogisticLoss(slope=2.0),
}
TWO_TEACHERS = fl.CustomLoss(
    label=lambda f_star, n: jnp.tanh(f_star[0]) + f_star[1] + 0.1 * n, loss=lambda f, y: 0.5 * (f - y) ** 2
)
DESCENT = fl.GradientDescent(step_size=0.3, num_steps=30)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_residuals_are_derivatives(loss):
    f, f_star, noise = jax.random.normal(jax.random.key(0), (3, 50))
    slopes = jax.vmap(jax.grad(loss.loss))(f, f_star, noise)
    np.testing.assert_allclose(jax.vmap(loss.residual)(f, f_star, noise), slopes, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_errors_on_new_samples(loss):
    """Against 200 000 random samples, within 4 standard errors."""
    normals = np.random.default_rng(0).normal(size=(3, 200_000))
    f_star, f = 1.1 * normals[0], 0.5 * normals[0] + 0.6 * normals[1]
    values = np.asarray(jax.vmap(loss.error)(*map(jnp.asarray, (f, f_star, normals[2]))))
    exact = [0.5**2 + 0.6**2, 0.55, 1.21, 0.5**2 + 0.6**2 - 1.1 + 1.21]
    found = loss.test_error(Moments(*map(jnp.asarray, exact)), jnp.zeros(()))
    assert float(found) == pytest.approx(values.mean(), abs=4.0 * values.std() / np.sqrt(len(values)))


def test_gaussian_mean_of_polynomials():
    moments = Moments(*map(jnp.asarray, (2.0, 0.5, 1.0, 2.0)))
    assert float(gaussian_mean(lambda f, f_star, n: f**2 * f_star**2 * n**2, moments)) == pytest.approx(2.5)


@pytest.mark.slow
@pytest.mark.parametrize("is_difference", [True, False])
def test_squared_loss_by_the_stochastic_route(is_difference):
    """A linear model is exact on both sides, the teacher's response by Stein's lemma included."""
    loss = fl.CustomLoss(**SQUARE, error=lambda f, y: (f - y) ** 2, is_difference=is_difference)
    model = fl.Linear(weight_decay=0.1, init_scale=0.5, init_overlap=0.2)
    closed = fl.solve_dmft(model, fl.Regression(0.8, noise_var=0.01, target=fl.Normal()), DESCENT)
    sampled = fl.solve_dmft(model, fl.GeneralizedLinear(0.8, target=fl.Normal(), loss=loss), DESCENT)
    for name in ("train_error", "test_error", "loss", "norm_2"):
        np.testing.assert_allclose(sampled[name].value, closed[name].value, rtol=1e-8)
    for name in ("C_w", "C_f", "R_w", "R_f"):
        np.testing.assert_allclose(getattr(sampled.kernels, name), getattr(closed.kernels, name), atol=1e-8)


@pytest.mark.slow
def test_network_by_the_stochastic_route():
    """A diagonal network, within 4 combined standard errors of the closed route."""
    model = fl.DiagonalLinear(0.5)
    closed = fl.solve_dmft(model, fl.Regression(0.8, noise_var=0.01, target=fl.Bernoulli(0.2)), DESCENT)
    sampled = fl.solve_dmft(model, fl.GeneralizedLinear(0.8, target=fl.Bernoulli(0.2), loss=LOSSES["squared"]), DESCENT)
    assert fl.compare(sampled, closed)


@pytest.mark.slow
def test_sign_teacher_is_a_steep_logistic_one():
    """The teacher's response, a silent 0 for automatic differentiation: slope 1000 agrees within 4 standard errors."""
    sign, steep = (
        fl.solve_dmft(fl.Linear(), fl.Classification(2.0, target=fl.Normal(), slope=slope), DESCENT, rtol=5e-2)
        for slope in (None, 1000.0)
    )
    assert fl.compare(sign, steep, names=["test_error", "loss"])
    assert float(sign.test_error[-1]) < 0.25  # without the response nothing would be learnt


def test_three_strata_draw_balanced_points():
    """Sobol points lose their balance where their number is no power of two, of which SciPy warns: an error here."""
    asked = Counts(4 * 3 * 512, 2 * 3 * 256)  # as for a target with three strata
    for part in (None, Part(1, 2, asked)):
        cloud = draw_sample_cloud(1, 16, 5, asked, None, None, False, np.random.default_rng(0), part=part)
        assert (len(cloud.probability), len(cloud.few_probability)) == (8192, 2048)
        assert cloud.normals.shape == (16, 8192)
        for share in (cloud.probability, cloud.few_probability):
            assert share.sum() == pytest.approx(1.0)
            assert (share > 0.0).mean() == (0.5 if part else 1.0)
    with pytest.raises(ValueError, match="points: given 6144, needs a power of two"):
        sobol_normals(6144, 3, np.random.default_rng(0))


@pytest.mark.slow
def test_teachers_that_depend_on_each_other():
    """Two teachers alike have a singular E[w* w*^T]. Fixed keys, 4 combined standard errors."""
    task = fl.GeneralizedLinear(2.0, target=fl.Independent(fl.PointMass(1.0), count=2), loss=TWO_TEACHERS)
    problem = (fl.Reparametrized(lambda theta: theta, init=0.1), task, fl.GradientDescent(0.3, num_steps=6))
    limit = fl.solve_dmft(*problem, rtol=0.1, key=0)
    assert limit.result.code is fl.Code.SUCCESSFUL
    runs = fl.simulate(*problem, dim=400, trials=20, key=3)
    assert fl.compare(limit, runs, names=["train_error", "test_error", "loss"])


def test_roots_of_singular_matrices():
    """A root and orthonormal combinations of dependent rows; NaN is not taken for dependence."""
    rows = np.random.default_rng(0).normal(size=(2, 50))
    rows = jnp.asarray(np.stack([rows[0], -3.0 * rows[0], rows[1], 0.0 * rows[0], rows.sum(axis=0)]))
    square = rows @ rows.T
    root = singular_root(square, 1e-12)
    e = whiten(root, rows)
    np.testing.assert_allclose(root @ root.T, square, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(root @ e, rows, atol=1e-12)
    np.testing.assert_allclose(e @ e.T, np.diag([1.0, 0.0, 1.0, 0.0, 0.0]), atol=1e-12)
    broken = singular_root(square.at[1, 1].set(jnp.nan))
    assert np.isnan(broken[1, 1])
    assert np.isnan(whiten(broken, rows)[1]).all()


def test_dictionaries_and_refusals():
    for task in (
        fl.Classification(2.0, target=fl.Normal(), slope=3.0),
        fl.GeneralizedLinear(2.0, target=fl.Normal(), loss=fl.HuberLoss(0.5)),
    ):
        assert fl.from_dict(task.to_dict()).to_dict() == task.to_dict()
    with pytest.raises(ValueError, match="gradient descent"):
        fl.solve_dmft(fl.Linear(), fl.Classification(2.0, target=fl.Normal()), fl.GradientFlow(5.0))
    with pytest.raises(TypeError, match="needs a function"):
        fl.CustomLoss(label=1.0, loss=lambda f, y: f)
    with pytest.raises(TypeError, match="needs a Loss"):
        fl.GeneralizedLinear(1.0, target=fl.Normal(), loss="huber")


SQUARED_LABEL = {"label": lambda f_star, n: f_star**2}
FIRST = {"label": lambda f_star, n: f_star}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "loss", "words"),
    [
        (fl.Linear(), fl.CustomLoss(**SQUARED_LABEL, loss=lambda f, y: (f - y) ** 2, is_difference=True), "together"),
        (fl.Linear(), fl.CustomLoss(label=lambda f_star: f_star, loss=lambda f, y: f * y), "fails on an output"),
        (fl.Linear(), fl.CustomLoss(**FIRST, loss=lambda f, y: jnp.stack([f, y])), "fails on an output"),
        (fl.Linear(), fl.CustomLoss(**FIRST, loss=lambda f, y: jax.nn.relu(1.0 - f * y)), "jumps"),
        (fl.Reparametrized(jnp.sign, init=0.5), fl.HuberLoss(), "weight jumps"),
        (fl.Reparametrized(jnp.sign, init=5.0), fl.HuberLoss(), "weight jumps"),
        (fl.Reparametrized(lambda theta: jnp.sign(theta) * theta**2, init=0.5), fl.HuberLoss(), None),
        (fl.Reparametrized(jax.lax.stop_gradient, init=0.5), fl.HuberLoss(), "misses a change"),
        (fl.Reparametrized(lambda theta: theta * jnp.ones((2, 2)), init=0.5), fl.HuberLoss(), "at most one axis"),
        (fl.Reparametrized(lambda theta: theta * jnp.ones(2), init=0.5), fl.HuberLoss(), "shape"),
    ],
    ids=[
        "no difference",
        "arguments",
        "no number",
        "hinge",
        "sign",
        "far from its jump",
        "kink",
        "no gradient",
        "matrix",
        "two outputs",
    ],
)
def test_what_lies_outside_the_theorem(model, loss, words):
    """It is refused before solving, in words; a kink is not."""
    problem = (model, fl.GeneralizedLinear(1.0, target=fl.Normal(), loss=loss), fl.GradientDescent(0.1, num_steps=2))
    if words is None:
        assert fl.solve_dmft(*problem, rtol=0.1).replicas
        return
    with pytest.raises(ValueError, match=words):
        fl.solve_dmft(*problem)


def test_squared_loss_of_a_task():
    """Its residual is the derivative of its loss, its error twice the loss, and labels add their variance."""
    loss, sample = fl.Regression(1.0, noise_var=0.3, target=fl.Normal()).loss, tuple(map(jnp.asarray, (0.7, -0.4, 0.2)))
    assert float(loss.residual(*sample)) == pytest.approx(float(jax.grad(loss.loss)(*sample)))
    assert float(loss.error(*sample)) == pytest.approx(2.0 * float(loss.loss(*sample))) == pytest.approx(0.81)
    moments = Moments(*map(jnp.asarray, (0.61, 0.55, 1.21, 0.72)))
    # E[(f - f_star - noise)^2] = E[f^2] - 2 E[f f_star] + E[f_star^2] + 0.3
    assert float(loss.test_error(moments, jnp.asarray(0.3))) == pytest.approx(0.61 - 1.1 + 1.21 + 0.3)


@pytest.mark.parametrize("tail", [0.0, 1e-6, 0.5])
def test_tail_of_hubers_labels(tail):
    """Labels are f_star + std sinh(tail n)/tail, and Gaussian ones as the tail goes to 0."""
    loss = fl.HuberLoss(threshold=100.0, noise_std=0.3, tail=tail)
    stretched = np.sinh(tail * 1.5) / tail if tail else 1.5
    assert float(loss.residual(*map(jnp.asarray, (2.0, 0.4, 1.5)))) == pytest.approx(1.6 - 0.3 * stretched)


@pytest.mark.slow
def test_a_kept_batch_by_the_stochastic_route():
    """Half of the samples for all steps, with twice the weight, are half the aspect ratio, within 4 standard errors.

    The response of residuals is masked as they are: a batch that is kept has E[m m] = 2 between any two steps.
    """
    model, target, size, steps = fl.Linear(0.1, init_scale=0.3), fl.Normal(), 0.3, 6
    batch = fl.StochasticGradientDescent(0.5, step_size=size, num_steps=steps, persistent=True)
    kept = fl.solve_dmft(model, fl.GeneralizedLinear(2.0, target=target, loss=LOSSES["squared"]), batch, rtol=5e-2)
    less = fl.solve_dmft(
        model, fl.Regression(1.0, noise_var=0.01, target=target), fl.GradientDescent(size, num_steps=steps)
    )
    assert fl.compare(kept, less, names=["test_error"])


def test_gaussian_mean_tells_student_from_teacher():
    """E[f^4 f_star^2] = 3 a^2 b + 12 a c^2 for variances a, b and overlap c: not the same with f and f_star swapped."""
    moments = Moments(*map(jnp.asarray, (2.0, 0.5, 1.0, 2.0)))
    assert float(gaussian_mean(lambda f, f_star, n: f**4 * f_star**2, moments)) == pytest.approx(18.0)
