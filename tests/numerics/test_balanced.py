"""Draws with their law's composition: exact counts, the law of each draw, fair remainders, independence of columns."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import flowlimit as fl
from flowlimit.numerics.balanced import balanced_normals, balanced_strata
from flowlimit.numerics.streams import as_key

KEYS = jax.random.split(jax.random.key(0), 2000)


@pytest.mark.parametrize(("probability", "count"), [([0.9, 0.1], 1000), ([0.5, 0.37, 0.13], 41), ([1.0], 7)])
def test_counts_are_the_law_up_to_a_fair_remainder(probability, count):
    """Every count is floor or ceiling of its share, and its mean over keys the share, within 4.5 standard errors."""
    strata = jax.vmap(lambda key: balanced_strata(key, jnp.array(probability), count))(KEYS)
    counts = np.stack([(np.asarray(strata) == index).sum(axis=1) for index in range(len(probability))], axis=1)
    share = count * np.array(probability)
    assert (np.abs(counts - share) < 1.0 + 1e-9).all()
    error = np.maximum(counts.std(axis=0) / np.sqrt(len(KEYS)), 1e-9)
    assert (np.abs(counts.mean(axis=0) - share) < 4.5 * error).all()


def test_places_are_random():
    """Each coordinate is 1 with the law's probability; two coordinates are nearly independent: -p (1 - p) / (d - 1)."""
    drawn = np.asarray(jax.vmap(lambda key: fl.Bernoulli(0.25).balanced(key, 40)[0])(KEYS))
    error = np.sqrt(0.25 * 0.75 / len(KEYS))
    assert (np.abs(drawn.mean(axis=0) - 0.25) < 4.5 * error).all()
    product = (drawn[:, 0] - 0.25) * (drawn[:, 1] - 0.25)
    assert abs(product.mean() + 0.25 * 0.75 / 39) < 4.5 * product.std() / np.sqrt(len(KEYS))


def test_each_normal_is_normal():
    drawn = np.asarray(jax.vmap(lambda key: balanced_normals(key, jnp.zeros(5, dtype=int), 1))(KEYS))[:, :, 0]
    for column in drawn.T:  # p-values of five draws of the same law, each below 1e-5 once in a hundred thousand keys
        assert stats.kstest(column, "norm").pvalue > 1e-5


def test_normals_have_one_per_cell_in_every_stratum_and_column():
    strata = jnp.array([0, 7, 0, 7, 7, 0, 0, 90_000])  # labels need not be small: of an empirical law with many values
    normals = balanced_normals(as_key(3), strata, 3)
    for label, size in ((0, 4), (7, 3), (90_000, 1)):
        cells = np.floor(size * stats.norm.cdf(np.asarray(normals)[np.asarray(strata) == label]))
        np.testing.assert_array_equal(np.sort(cells, axis=0), np.arange(size)[:, None] * np.ones(3))
    assert balanced_normals(as_key(3), strata, 0).shape == (8, 0)


def test_columns_are_independent():
    """The correlation of two columns over 1000 draws is of order 1/sqrt(1000), with random sign."""
    pairs = jax.vmap(lambda key: balanced_normals(key, jnp.zeros(1000, dtype=int), 2))(KEYS[:200])
    correlation = np.mean(np.asarray(pairs)[..., 0] * np.asarray(pairs)[..., 1], axis=1)
    assert abs(correlation.mean()) < 4.5 * correlation.std() / np.sqrt(200)
    assert correlation.std() == pytest.approx(1.0 / np.sqrt(1000), rel=0.25)  # 5 standard errors: 1 / sqrt(400)


@pytest.mark.parametrize(
    "target",
    [fl.Normal(2.0), fl.BernoulliGauss(0.3, std=1.5), fl.SparseRademacher(0.2), fl.Empirical([1.0, -2.0, 0.5])],
)
def test_moments_of_laws(target):
    """Second moments of 1000 draws are those of the law to a percent; of plain draws they would scatter by several."""
    drawn, strata = target.balanced(as_key(1), 1000)
    assert drawn.shape == strata.shape == (1000,)
    assert float(jnp.mean(drawn**2)) == pytest.approx(float(target.second_moment), rel=1e-2)


def test_several_teachers():
    target = fl.Independent(fl.Bernoulli(0.5), count=2)
    drawn, _ = target.balanced(as_key(0), 400)
    combinations, counts = np.unique(np.asarray(drawn), axis=1, return_counts=True)
    assert combinations.shape == (2, 4)
    assert counts.tolist() == [100, 100, 100, 100]
