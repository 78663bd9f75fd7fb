"""Time operators: exact on polynomials, spectral on smooth functions, steps as sums."""

import jax.numpy as jnp
import numpy as np
import pytest

from flowlimit.numerics.blocks import integration, interpolation, panels, steps
from flowlimit.numerics.gauss import gauss_rule
from flowlimit.numerics.marchenko_pastur import marchenko_pastur
from flowlimit.numerics.panel_values import panel_values
from flowlimit.numerics.pathwise import solve_pathwise
from flowlimit.numerics.quasirandom import match_moments, sobol_normals, widen

EDGES = np.array([0.0, 0.3, 1.0, 2.5])


@pytest.mark.parametrize("degree", range(8))
def test_panels_integrate_polynomials(degree):
    blocks = panels(EDGES, 8)
    t = np.asarray(blocks.times).ravel()
    assert integration(blocks) @ t**degree == pytest.approx(t ** (degree + 1) / (degree + 1), abs=1e-12)
    assert np.asarray(blocks.weights).ravel() @ t**degree == pytest.approx(2.5 ** (degree + 1) / (degree + 1))


def test_time_error_falls_geometrically():
    """Solving y' = -4 y by collocation on one unit panel: each node more gains a factor, as spectral methods do."""
    errors = []
    for order in range(3, 9):
        rule = gauss_rule(order)
        y = np.linalg.solve(np.eye(order) + 4.0 * rule.inner, np.ones(order))
        errors.append(np.abs(y - np.exp(-4.0 * rule.nodes)).max())
    rates = np.array(errors[:-1]) / errors[1:]
    assert rates.min() > 3.0
    assert rates[-1] > rates[0]


def test_steps_are_sums():
    S = integration(steps(jnp.full(5, 0.1)))
    assert pytest.approx(0.1 * np.tri(5, k=-1)) == S


def test_interpolation_reaches_both_ends():
    matrix = interpolation(EDGES, 6, np.array([0.0, 0.3, 1.7, 2.5])).dense(3)
    t = np.asarray(panels(EDGES, 6).times).ravel()
    assert matrix @ t**5 == pytest.approx([0.0, 0.3**5, 1.7**5, 2.5**5])


def test_values_inside_a_panel():
    """A decaying response e^{-(t - s)} from its collocation matrix."""
    rule = gauss_rule(8)
    matrix = np.linalg.solve(np.eye(8) + rule.inner, rule.inner)
    values = (panel_values(8) @ matrix.ravel()).reshape(8, 8)
    exact = np.tril(np.exp(-(rule.nodes[:, None] - rule.nodes[None, :])))
    assert np.abs(values - exact).max() < 1e-4


@pytest.mark.slow
def test_pathwise_solve():
    rng = np.random.default_rng(0)
    matrix, right = np.eye(5)[:, :, None] + 0.3 * rng.normal(size=(5, 5, 7)), rng.normal(size=(5, 2, 7))
    solved = np.asarray(solve_pathwise(jnp.asarray(matrix), jnp.asarray(right)))
    for path in range(7):
        assert solved[..., path] == pytest.approx(np.linalg.solve(matrix[..., path], right[..., path]))


def test_matched_moments():
    cloud = match_moments(sobol_normals(128, 20, np.random.default_rng(1)))
    assert np.abs(cloud.mean(axis=0)).max() < 1e-14
    assert cloud.T @ cloud / 128 == pytest.approx(np.eye(20), abs=1e-12)
    wide = match_moments(sobol_normals(16, 20, np.random.default_rng(1)))  # more dimensions than can be matched
    assert np.isfinite(wide).all()
    assert wide[:, :8].T @ wide[:, :8] / 16 == pytest.approx(np.eye(8), abs=1e-12)


def test_moments_of_dependent_dimensions_are_matched_as_far_as_they_go() -> None:
    """Where two dimensions are one, or nearly, the others are orthogonal all the same: a Cholesky root would not be."""
    cloud = np.random.default_rng(0).normal(size=(64, 8))
    for near in (0.0, 1e-9):
        cloud[:, 5] = cloud[:, 2] + near * cloud[:, 0]
        matched = match_moments(cloud)
        assert np.isfinite(matched).all()
        first = matched[:, :5]
        np.testing.assert_allclose(first.T @ first / 64, np.eye(5), atol=1e-12)
        assert np.all(np.sum(first * cloud[:, :5], axis=0) > 0.0)  # no direction is turned round


def test_widened_normals_keep_their_law():
    """Moments are matched with the weights, and a heavy tail, E exp(3 x) = exp(4.5), is far better covered."""
    plain, wide = [], []
    for replica in range(8):
        cloud = sobol_normals(256, 3, np.random.default_rng(replica))
        plain.append(np.exp(3.0 * match_moments(cloud)[:, 0]).mean())
        cloud, weights = widen(cloud, {0: 1.6, 1: 1.2})
        cloud, share = match_moments(cloud, weights), weights / weights.sum()
        assert cloud.T @ (share[:, None] * cloud) == pytest.approx(np.eye(3), abs=1e-12)
        wide.append(share @ np.exp(3.0 * cloud[:, 0]))
    # eight replicas: three standard errors of their mean, and a spread that the widening divides by more than 5
    assert abs(np.mean(wide) - np.exp(4.5)) < 3.0 * np.std(wide, ddof=1) / np.sqrt(8)
    assert np.std(wide) < 0.2 * np.std(plain)


@pytest.mark.parametrize("delta", [0.3, 1.0, 4.0])
def test_marchenko_pastur_moments(delta):
    """Moments 1, 1, 1 + c, 1 + 3c + c^2 with c = 1/delta (Narayana polynomials)."""
    x, weights = marchenko_pastur(delta)
    c = 1.0 / delta
    assert [weights @ x**n for n in range(4)] == pytest.approx([1.0, 1.0, 1.0 + c, 1.0 + 3.0 * c + c * c])


def test_steps_begin_at_the_sum_of_those_before():
    blocks = steps(jnp.array([0.3, 0.1, 0.2]))
    assert np.asarray(blocks.times).ravel() == pytest.approx([0.0, 0.3, 0.4])
    assert np.asarray(blocks.weights).ravel() == pytest.approx([0.3, 0.1, 0.2])


def test_matching_moments_hardly_moves_the_points():
    """Quasi-random points are nearly right already: no direction is turned round, and none moves far."""
    cloud = sobol_normals(256, 6, np.random.default_rng(3))
    assert np.abs(match_moments(cloud) - cloud).max() < 0.2


def test_widened_normals_have_the_moments_of_narrow_ones():
    """By their weights alone: matching moments would mend a wrong variance. 1024 even points are good to 2%."""
    cloud, weights = widen(sobol_normals(1024, 2, np.random.default_rng(0)), {0: 1.3})
    share = weights / weights.sum()
    assert share @ cloud**2 == pytest.approx([1.0, 1.0], rel=0.02)
    assert weights.mean() == pytest.approx(1.0, rel=0.02)
