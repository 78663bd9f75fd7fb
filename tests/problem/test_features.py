"""Laws of features: what they say, what is drawn from them, and what is refused."""

import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.numerics.log_rule import COARSE, log_rule

BLOCKS = fl.Features(variance=fl.Empirical([1.0, 0.1]), target=fl.Bernoulli(0.3))
STEPS = fl.GradientDescent(0.2, num_steps=3)


def regression(features, **options):
    return fl.Regression(2.0, noise_var=0.1, features=features, **options)


@pytest.mark.parametrize("last", [1, 9, 400, 20_000])
def test_the_rule_sums_powers(last):
    """Against the sum itself; polynomials in log j and powers."""
    nodes, weights = log_rule(last)
    j = np.arange(1.0, last + 1)
    for function in (lambda x: x**5, lambda x: np.exp(-1.5 * x), lambda x: np.exp(-20 * np.exp(-1.2 * x) - x)):
        assert weights @ function(nodes) == pytest.approx(np.sum(function(np.log(j))), rel=1e-9)


def test_the_coarser_rule_has_the_same_shape_and_says_the_error():
    law = fl.PowerLaw(5000, capacity=2.0, source=2.5)
    rough = law.coarser()
    assert rough.order == COARSE
    assert rough.strata().probability.shape == law.strata().probability.shape
    j = jnp.arange(1.0, 5001.0)
    exact = jnp.mean(jnp.exp(-50.0 * j**-2.0))
    error = lambda law: abs(law.strata().probability @ jnp.exp(-50.0 * law.variances()) - exact)
    assert error(law) < abs(error(rough)) < 1e-5


def test_a_power_law_is_its_coordinates():
    law = fl.PowerLaw(300, capacity=1.2, source=1.5)
    exact = law.coordinates()
    s, w = exact.variances(), exact.targets
    assert float(s[9]) == pytest.approx(10.0**-1.2)
    assert float(s[9] * w[9] ** 2 / (s[0] * w[0] ** 2)) == pytest.approx(10.0**-1.5)
    assert float(exact.signal) == pytest.approx(1.0)
    assert float(law.signal) == pytest.approx(1.0)


def test_pairs_are_independent():
    probability, mean, _ = BLOCKS.strata()
    assert float(probability @ (BLOCKS.variances() * mean)) == pytest.approx(0.55 * 0.3)


@pytest.mark.parametrize("features", [BLOCKS, fl.PowerLaw(200, capacity=1.2, source=1.5)], ids=["pairs", "power"])
def test_data_have_these_variances(features):
    """Columns of X have variance s/dim: chi-squares with 2 dim degrees, whose mean over columns is within 5 errors."""
    data = fl.draw(regression(features), dim=200, key=0)
    ratio = jnp.sum(data.X**2, axis=0) * 200 / (400 * data.variances)
    assert abs(float(jnp.mean(ratio)) - 1.0) < 5.0 * np.sqrt(2.0 / 400 / 200)
    assert float(jnp.mean(data.variances * data.w_star**2)) == pytest.approx(float(features.signal))


def test_a_power_law_is_drawn_once_each_at_its_own_dim():
    data = fl.draw(regression(fl.PowerLaw(64, capacity=1.2, source=1.5)), dim=64, key=3)
    assert np.allclose(np.sort(data.variances)[::-1], np.arange(1.0, 65.0) ** -1.2)


def test_independent_draws_keep_pairs_together():
    """Each w* stays beside its own variance."""
    law = fl.Spectrum([1.0, 0.5, 0.25], [3.0, 2.0, 1.0])
    data = fl.draw(regression(law), dim=500, key=0, draws="independent")
    assert np.array_equal(data.w_star, 3.0 + np.log2(np.asarray(data.variances)))
    share = np.mean(np.asarray(data.variances) == 1.0)
    assert abs(share - 1 / 3) < 5.0 * np.sqrt(2 / 9 / 500)


def test_a_data_set_of_them_has_the_same_test_error():
    """Training on what was drawn, without noise in the initialisation, is the trial itself."""
    task = regression(fl.PowerLaw(60, capacity=1.2, source=1.5))
    runs = fl.simulate(fl.Linear(), task, STEPS, dim=60, trials=1, key=0)
    again = fl.simulate(fl.Linear(), fl.draw(task, dim=60, key=0), STEPS)
    assert np.allclose(runs.test_error, again.test_error, rtol=1e-12)
    assert float(runs.test_error[0]) == pytest.approx(1.1)


def test_equal_variances_are_a_target():
    """The limit with all variances 1 is that of the plain target, to rounding."""
    options = {"rtol": 1e-3, "key": 0}
    plain = fl.solve_dmft(fl.Linear(), fl.Regression(2.0, noise_var=0.1, target=fl.Normal()), STEPS, **options)
    unit = fl.Features(variance=fl.PointMass(1.0), target=fl.Normal())
    same = fl.solve_dmft(fl.Linear(), regression(unit), STEPS, **options)
    assert np.allclose(same.test_error, plain.test_error, rtol=1e-12)
    assert np.array_equal(same.paths.variance, np.ones(same.paths.w_star.shape))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: fl.Features(variance=fl.Normal(), target=fl.Normal()), "variance: given Normal"),
        (lambda: fl.Features(variance=fl.Bernoulli(0.5), target=fl.Normal()), "needs a law of numbers above 0"),
        (lambda: fl.Spectrum([1.0, 0.0], [1.0, 1.0]), "variances: given 0"),
        (lambda: fl.Spectrum([1.0], [1.0, 1.0]), "needs one for each"),
        (lambda: fl.PowerLaw(0, capacity=1.0, source=1.0), "dim: given 0"),
        (lambda: fl.PowerLaw(10, capacity=-1.0, source=1.0), "capacity: given -1"),
        (lambda: fl.Regression(2.0, noise_var=0.1), "neither target nor features"),
        (lambda: regression(BLOCKS, target=fl.Normal()), "both target and features"),
        (lambda: regression(BLOCKS, design=fl.MatrixDesign(np.eye(4, 2))), "a design that is a matrix"),
        (lambda: fl.Dataset(np.eye(3), np.ones(3), variances=[1.0, 1.0]), "variances: given shape"),
    ],
)
def test_refuses(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_target_is_no_law_of_features():
    with pytest.raises(TypeError, match=r"features: given Normal\(\), needs a FeatureLaw"):
        regression(fl.Normal())
