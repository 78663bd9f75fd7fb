"""Laws: samples against moments, quadrature against closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl

LAWS = [
    fl.Bernoulli(0.1),
    fl.Bernoulli(0.3, value=-2.0),
    fl.SparseRademacher(0.4, value=1.5),
    fl.BernoulliGauss(0.2, std=2.0),
    fl.Normal(0.7),
    fl.PointMass(3.0),
    fl.Empirical([0.0, 1.0, 1.0, -4.0]),
]


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_samples_have_the_moments(law):
    """Mean, second and fourth moment of samples lie within 5 of their own standard errors."""
    x = np.asarray(law.sample(jax.random.key(0), (200_000,)))
    nodes, weights = law.quadrature(8)
    for power in (1, 2, 4):
        exact = float(jnp.sum(weights * nodes**power))
        assert abs((x**power).mean() - exact) <= 5.0 * (x**power).std() / np.sqrt(len(x)) + 1e-12
    assert float(law.mean) == pytest.approx(float(jnp.sum(weights * nodes)), abs=1e-12)
    assert float(law.second_moment) == pytest.approx(float(jnp.sum(weights * nodes**2)), rel=1e-12)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_strata_are_a_mixture(law):
    probability, mean, std = law.strata()
    assert float(probability.sum()) == pytest.approx(1.0)
    assert probability.shape == mean.shape == std.shape
    assert bool((std >= 0.0).all())


def test_quadrature_integrates_a_characteristic_function():
    """E cos(x) = (1 - p) + p exp(-std^2/2) for a Bernoulli-Gauss law."""
    nodes, weights = fl.BernoulliGauss(0.3, std=1.3).quadrature(32)
    assert float(jnp.sum(weights * jnp.cos(nodes))) == pytest.approx(0.7 + 0.3 * np.exp(-(1.3**2) / 2), rel=1e-12)


def test_frequencies_of_atoms():
    """Counts of a Bernoulli(0.1) sample: 5 binomial standard deviations."""
    x = np.asarray(fl.Bernoulli(0.1).sample(jax.random.key(1), (100_000,)))
    assert set(np.unique(x)) == {0.0, 1.0}
    assert abs(x.mean() - 0.1) < 5.0 * np.sqrt(0.09 / 100_000)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_certain_events(probability):
    x = fl.Bernoulli(probability).sample(jax.random.key(0), (10_000,))
    assert bool((x == probability).all())


def test_laws_can_be_traced():
    """A law built inside grad: d/dp of the second moment of Bernoulli(p, value=2) is 4."""
    assert float(jax.grad(lambda p: fl.Bernoulli(p, value=2.0).second_moment)(0.3)) == pytest.approx(4.0)


def test_a_law_of_ones_own():
    class TwoGaussians(fl.Law):
        def strata(self):
            return fl.Normal().strata()._replace(mean=jnp.array([5.0]))

    assert float(TwoGaussians().mean) == 5.0
    assert float(TwoGaussians().second_moment) == 26.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fl.Bernoulli(1.2), "probability: given 1.2, needs a number of at least 0 and at most 1"),
        (lambda: fl.Bernoulli("a"), "probability: given 'a', needs a number"),
        (lambda: fl.Normal(-1.0), "std: given -1, needs a number of at least 0"),
        (lambda: fl.Normal(float("nan")), "std: given nan"),
        (lambda: fl.Empirical([]), r"values: given shape \(0,\), needs a non-empty list"),
        (lambda: fl.PointMass([1.0, 2.0]), r"value: given an array of shape \(2,\)"),
        (lambda: fl.PointMass(None), "value: given None"),
    ],
)
def test_refusals(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_independent_teachers():
    """Strata are products: probabilities add up to 1, second moments are the law's, products are those of means."""
    law = fl.SparseRademacher(0.4, value=1.5)
    probability, mean, std = fl.Independent(fl.Bernoulli(0.2), count=3).strata()
    assert float(probability.sum()) == pytest.approx(1.0)
    square = np.asarray((probability[:, None] * mean).T @ mean)
    assert square == pytest.approx(0.2 * np.eye(3) + 0.04 * (1.0 - np.eye(3)))
    probability, mean, std = fl.Independent(law, count=2).strata()
    assert np.asarray(probability @ (mean**2 + std**2)) == pytest.approx([float(law.second_moment)] * 2)


def test_conditional_probabilities():
    """Given a draw that is 0, and given one that is not: each adds up to 1, weighted they are the law."""
    strata = fl.SparseRademacher(0.4, value=1.5).strata()
    zero, other = strata.given(zero=True), strata.given(zero=False)
    assert zero.tolist() == [1.0, 0.0, 0.0]
    assert other.tolist() == pytest.approx([0.0, 0.5, 0.5])
    assert np.asarray(0.6 * zero + 0.4 * other) == pytest.approx(np.asarray(strata.probability))


def test_signs_are_even():
    """A sparse law of signs has odd moments 0; its second moment is the square of its value times the probability."""
    law = fl.SparseRademacher(0.4, value=1.5)
    assert (float(law.mean), float(law.second_moment)) == pytest.approx((0.0, 0.4 * 2.25))
