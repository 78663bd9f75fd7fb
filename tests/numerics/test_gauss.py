"""Panels that sum over steps: exact on polynomials, as stable as descent, and descent itself where they are short."""

import math

import numpy as np
import pytest
from numpy.polynomial import legendre

from flowlimit.numerics.blocks import integration, interpolation, panels
from flowlimit.numerics.gauss import gauss_rule
from flowlimit.numerics.panel_values import panel_values


@pytest.mark.parametrize("order", [4, 8, 16])
@pytest.mark.parametrize("count", [16, 17, 32, 1000])
def test_sums_of_polynomials(order, count):
    """Against sums term by term: to each node they are the polynomial through the sums to each step."""
    u = (2.0 * np.arange(count) + 1.0) / count - 1.0
    one_by_one = np.vstack([np.zeros(order), np.cumsum(legendre.legvander(u, order - 1), axis=0)]) / count
    ends = np.r_[u, 1.0 + 1.0 / count]
    sums = np.linalg.lstsq(legendre.legvander(ends, order), one_by_one, rcond=None)[0]
    rule = gauss_rule(order, count)
    x = 2.0 * rule.nodes - 1.0
    at_nodes = legendre.legvander(x, order - 1)
    # sixteen nodes on as many even steps: Legendre's polynomials are as good as dependent there, which costs 3 digits
    assert rule.inner @ at_nodes == pytest.approx(legendre.legvander(x, order) @ sums, abs=1e-11)
    assert rule.weights @ at_nodes == pytest.approx(one_by_one[-1], abs=1e-14)
    assert rule.at((u + 1.0) / 2.0) @ at_nodes == pytest.approx(legendre.legvander(u, order - 1), abs=1e-11)


def test_a_million_steps_lose_no_digits():
    """The sum of j^3 over j < m is (m (m - 1) / 2)^2."""
    rule, count = gauss_rule(8, 10**6), 10**6
    m = count * rule.nodes - 0.5
    assert count * rule.inner @ m**3 == pytest.approx((m * (m - 1.0) / 2.0) ** 2, rel=1e-13, abs=1e-13 * count**4)


def test_infinitely_many_steps_are_an_integral():
    x, weights = legendre.leggauss(8)
    integral, sums = gauss_rule(8), gauss_rule(8, 1e9)
    assert integral.nodes == pytest.approx((x + 1.0) / 2.0, abs=1e-15)
    assert integral.weights == pytest.approx(weights / 2.0, abs=1e-15)
    assert sums.inner == pytest.approx(integral.inner, abs=1e-8)


def test_a_panel_of_its_order_is_descent():
    edges = np.array([-0.05, 0.35, 1.15])  # four steps of .1, then eight
    S = integration(panels(edges, 4, 0.1))
    assert S[:4, :4] == pytest.approx(0.1 * np.tri(4, k=-1))
    assert S[4:, :4] == pytest.approx(np.full((4, 4), 0.1))
    times = np.asarray(panels(edges, 4, 0.1).times).ravel()
    assert times[:4] == pytest.approx([0.0, 0.1, 0.2, 0.3])
    at = interpolation(edges, 4, 0.1 * np.arange(12), 0.1).dense(2)
    assert at[:4, :4] == pytest.approx(np.eye(4), abs=1e-12)
    assert at @ times**3 == pytest.approx((0.1 * np.arange(12)) ** 3)
    assert at[4, :4] == pytest.approx(np.zeros(4))  # a step at an edge belongs to the panel that it begins


def test_the_error_falls_geometrically():
    """y_{j+1} = .996 y_j on a panel of 1000 steps: each node more gains a factor, as spectral methods do."""
    errors = []
    for order in range(3, 10):
        rule = gauss_rule(order, 1000)
        y = np.linalg.solve(np.eye(order) + 4.0 * rule.inner, np.ones(order))
        errors.append(np.abs(y - 0.996 ** (1000 * rule.nodes - 0.5)).max())
    rates = np.array(errors[:-1]) / errors[1:]
    assert rates.min() > 3.0
    assert rates[-1] > rates[0]


@pytest.mark.parametrize("count", [8, 16, 100, 10**4, 10**6])
def test_panels_are_as_stable_as_descent(count):
    """A mode that a step multiplies by 1 - c does not grow over a panel of any length, for c up to 2 and no further."""
    rule = gauss_rule(8, count)

    def factor(c):
        y = np.linalg.solve(np.eye(8) + c * count * rule.inner, np.ones(8))
        return abs(1.0 - c * count * rule.weights @ y)

    assert max(factor(c) for c in [1e-8, 1e-4, 0.1, 1.0, 1.9, 1.99]) <= 1.0 + 1e-12
    assert factor(2.0) == pytest.approx(1.0)
    assert factor(2.1) > 1.0


@pytest.mark.parametrize("count", [8, 16, 1000, math.inf])
def test_values_inside_a_panel(count):
    """The response of y_{j+1} = y_j - (y_j - g_j)/count to one g_s, or that of the flow, from its matrix."""
    rule = gauss_rule(8, count)
    matrix = np.linalg.solve(np.eye(8) + rule.inner, rule.inner)
    values = (panel_values(8, count) @ matrix.ravel()).reshape(8, 8)
    t = rule.nodes[:, None] - rule.nodes[None, :]
    if math.isinf(count):
        exact = np.tril(np.exp(-t))
    else:
        exact = np.tril((1.0 - 1.0 / count) ** (count * np.maximum(t, 0.0) - 1.0), k=-1)
    assert np.abs(values - exact).max() < 1e-4
