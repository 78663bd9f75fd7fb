"""Rates against reference values, the lazy limit, finite differences and the Laplace transform they come from."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.asymptotics.nodes import law_nodes
from flowlimit.numerics.roots import monotone_root


def rate(init_scale, aspect_ratio=0.5, noise_var=0.01, case=None):
    task = fl.Regression(aspect_ratio, noise_var=noise_var, target=fl.Bernoulli(0.1))
    return fl.convergence_rate(fl.DiagonalLinear(init_scale), task, case=case)


@pytest.mark.parametrize(
    ("aspect_ratio", "init_scale", "gamma"),
    [
        (0.5, 0.1, 0.0085015),
        (0.5, 0.3, 0.025845),
        (0.5, 1.0, 0.17617),
        (2.0, 0.1, 0.002595),
        (2.0, 0.3, 0.010518),
        (2.0, 1.0, 0.088501),
        (2.0, 10.0, 8.5787),
    ],
)
def test_reference_values(aspect_ratio, init_scale, gamma):
    assert float(rate(init_scale, aspect_ratio).gamma) == pytest.approx(gamma, rel=1e-4)


@pytest.mark.parametrize("aspect_ratio", [0.3, 0.9, 1.1, 4.0])
def test_lazy_limit(aspect_ratio):
    """Edge of the Marchenko-Pastur law times alpha^2."""
    gamma = float(rate(1e3, aspect_ratio).gamma)
    assert gamma == pytest.approx(1e6 * (1.0 - aspect_ratio**-0.5) ** 2, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("aspect_ratio", "case"), [(0.5, "interpolating"), (2.0, "ridgeless")])
def test_derivative(aspect_ratio, case):
    """The total derivative by the init scale, against central differences and, for aspect ratio > 1, the paper's."""
    gamma = lambda alpha: rate(alpha, aspect_ratio, case=case).gamma
    alpha, step = jnp.array(0.1), 1e-6
    slope = float(jax.grad(gamma)(alpha))
    assert slope == pytest.approx(float(gamma(alpha + step) - gamma(alpha - step)) / (2 * step), rel=1e-6)
    found = rate(0.1, aspect_ratio)
    nodes = law_nodes(found.point.channel, jnp.log(found.point.scale), found.point.R_w)
    printed = 2.0 * 0.1**3 * found.u**2 * nodes.mean(1.0 / (nodes.root * (found.u + nodes.root) ** 2)) / aspect_ratio
    if case == "interpolating":
        assert slope == pytest.approx(0.0710, abs=5e-5)
        assert float(printed) == pytest.approx(0.0409, abs=5e-5)  # the law of w(infinity) held fixed
    else:
        assert slope == pytest.approx(float(printed), rel=1e-8)


@pytest.mark.slow
def test_hundreds_are_positive():
    """gamma > 0, and so is its derivative by the init scale: proved for aspect ratio > 1, seen below it.

    benchmarks/rate_slopes.py takes thousands.
    """
    rng = np.random.default_rng(1)
    scale, noise, sparsity = (
        10.0 ** rng.uniform(-3, 2, 300),
        10.0 ** rng.uniform(-4, 0, 300),
        rng.uniform(0.02, 0.9, 300),
    )
    for case, ratio in (("interpolating", rng.uniform(0.05, 0.98, 300)), ("ridgeless", rng.uniform(1.02, 5.0, 300))):
        gamma = lambda a, d, n, p, case=case: (
            fl.convergence_rate(
                fl.DiagonalLinear(a), fl.Regression(d, noise_var=n, target=fl.Bernoulli(p)), case=case
            ).gamma
        )
        given = tuple(map(jnp.asarray, (scale, ratio, noise, sparsity)))
        assert float(jax.vmap(gamma)(*given).min()) > 0.0
        assert float(jax.vmap(jax.grad(gamma))(*(x[:50] for x in given)).min()) > 0.0


@pytest.mark.parametrize("aspect_ratio", [0.5, 2.0])
def test_singularity_of_the_response(aspect_ratio):
    """The Laplace transform p R_w(p), eq. (barRw), solved by iteration on the real axis, ends at p = -gamma.

    h(R, p) = 0 has a root just right of -gamma and none just left of it, with averages from 200 000 draws of
    w(infinity): sampling moves the edge by less than 1%.
    """
    found = rate(0.5, aspect_ratio)
    point, rng = found.point, np.random.default_rng(2)
    w_star = (rng.random(200_000) < 0.1) * 1.0
    x = w_star + float(point.noise_std) * rng.normal(size=len(w_star))
    w = x
    if aspect_ratio < 1.0:
        R = float(point.R_w)
        for _ in range(200):  # damped iteration for w + R asinh(w/a) = x
            slope = 1.0 + R / np.sqrt(w**2 + 0.25**2)
            w = w - (w + R * np.arcsinh(w / 0.25) - x) / slope
    y = np.sqrt(w**2 + 0.25**2)
    gamma = float(found.gamma)

    def smallest(p):
        """Return the least of h, convex in u = p + R: a root exists if it is <= 0."""
        u = float(found.u) * np.linspace(0.8, 1.2, 81)
        h = [u_ - p - u_ / aspect_ratio * np.mean(y / (u_ + y)) for u_ in u]
        return min(h)

    signs = [np.sign(smallest(-gamma * factor)) for factor in (0.98, 1.02)]
    assert signs == [-1.0, 1.0]


def test_kinds_and_refusals():
    slow = fl.convergence_rate(
        fl.DiagonalLinear(0.3, weight_decay=0.1), fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    )
    assert (slow.kind, float(slow.gamma), slow.power) == ("subexponential", 0.0, -2.0)
    noisy, quiet = rate(1.0, 2.0), rate(1.0, 2.0, 0.0)
    assert float(noisy.test_rate) == float(noisy.gamma) == float(noisy.train_rate) / 2.0
    assert float(quiet.test_rate) == float(quiet.train_rate)
    with pytest.raises(ValueError, match="aspect_ratio: given 1"):
        rate(0.3, 1.0)


@pytest.mark.parametrize("noise_var", [1e-4, 1e-2])
def test_weights_that_hardly_any_path_has(noise_var):
    """Few weights are near 0, where the rate is smallest: u is -min y to all digits, and gamma = -p(u), eq. (barRw).

    There gamma = min y (1 - E[y/(y - min y)]/delta), over all the other weights: here N(1, noise_std^2).
    """
    alpha, delta = 0.1, 2.0
    found = fl.convergence_rate(
        fl.DiagonalLinear(alpha), fl.Regression(delta, noise_var=noise_var, target=fl.PointMass(1.0))
    )
    x, weights = np.polynomial.hermite_e.hermegauss(60)
    y = np.sqrt((1.0 + float(found.point.noise_std) * x) ** 2 + alpha**4)
    exact = alpha**2 * (1.0 - weights @ (y / (y - alpha**2)) / weights.sum() / delta)
    assert float(found.gamma) == pytest.approx(exact, rel=1e-9)
    with pytest.raises(ValueError, match="no curve shows their exponents"):
        found.spectrum  # noqa: B018


def test_a_bracket_without_a_root():
    """It gives NaN, as do bounds that are none."""
    root = lambda lower, upper: monotone_root(lambda x, _: x, *map(jnp.array, (lower, upper)))
    found = [float(root(*bounds)) for bounds in ((-1.0, 2.0), (1.0, 2.0), (-2.0, -1.0), (jnp.nan, 1.0))]
    assert found[0] == pytest.approx(0.0, abs=1e-12)
    assert np.isnan(found[1:]).all()


def test_no_root_raises(monkeypatch):
    """Outside of vmap a rate without a root is an error, in words."""
    bad = fl.convergence_rate(fl.DiagonalLinear(0.3), fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1)))
    bad = eqx.tree_at(lambda rate: rate.gamma, bad, jnp.array(jnp.nan))
    monkeypatch.setattr("flowlimit.asymptotics.rate._rate", lambda point: bad)
    with pytest.raises(fl.FlowlimitError, match="no root in its bounds"):
        rate(0.3)
