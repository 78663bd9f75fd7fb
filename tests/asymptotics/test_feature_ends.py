"""Closed forms of features of unequal variances: against plain ones, ridge regression, matrices and minimisers."""

import numpy as np
import pytest
from scipy.optimize import brentq

import flowlimit as fl
from flowlimit.asymptotics.lazy import lazy_errors

BLOCKS = fl.Features(variance=fl.Empirical([1.0, 0.2]), target=fl.Bernoulli(0.3))
LAZY = 30.0


def regression(aspect_ratio, features=BLOCKS, noise_var=0.05):
    return fl.Regression(aspect_ratio, noise_var=noise_var, features=features)


@pytest.mark.parametrize(("aspect_ratio", "weight_decay"), [(0.5, 0.0), (2.0, 0.0), (0.5, 0.1)])
def test_a_common_variance_is_a_change_of_units(aspect_ratio, weight_decay):
    """With c w in place of w: variance 1/c^2, target c w*, scale alpha sqrt(c), decay over c; gradients are 1/c times
    as large and the network c times as fast, so that rates are 1/c as large."""
    c = 2.0
    plain = fl.Regression(aspect_ratio, noise_var=0.05, target=fl.Bernoulli(0.3))
    features = fl.Features(variance=fl.PointMass(1.0 / c**2), target=fl.Bernoulli(0.3, value=c))
    one = fl.DiagonalLinear(0.5, weight_decay=weight_decay)
    other = fl.DiagonalLinear(0.5 * c**0.5, weight_decay=weight_decay / c)
    rates = fl.convergence_rate(one, plain), fl.convergence_rate(other, regression(aspect_ratio, features))
    first, second = (rate.point for rate in rates)
    for name, factor in {"train_error": 1.0, "test_error": 1.0, "atom": 1.0, "noise_std": 1.0}.items():
        assert float(getattr(second, name)) == pytest.approx(factor * float(getattr(first, name)), rel=1e-9)
    assert float(rates[1].gamma) == pytest.approx(float(rates[0].gamma) / c, rel=1e-9)
    w = np.array([0.3, 1.1])
    assert np.allclose(second.density(c * w) * c, first.density(w), rtol=1e-8)
    levels = [float(point.true_positive_rate(level)) for point, level in ((first, 0.4), (second, 0.4 * c))]
    assert levels[0] == pytest.approx(levels[1], rel=1e-9)
    times = fl.timescales(one, plain), fl.timescales(other, regression(aspect_ratio, features))
    assert float(times[1].search) == pytest.approx(c * float(times[0].search), rel=1e-9)
    assert float(times[1].lazy) == pytest.approx(c * float(times[0].lazy), rel=1e-9)
    later = c * np.log(0.25 * c) / np.log(0.25)  # pulls are 1/c as large, and have less or more to grow by
    assert float(times[1].descent) == pytest.approx(later * float(times[0].descent), rel=1e-6)


def ridge(s, w_star_sq, p, delta, noise_var, penalty=0.0):
    """Deterministic equivalent: kappa (1 - E[s/(s + kappa)]/delta) = ridge; test error, E[w^2]."""
    kappa = np.exp(brentq(lambda x: np.exp(x) * (1 - p @ (s / (s + np.exp(x))) / delta) - penalty, -30, 10, xtol=1e-14))
    share = s / (s + kappa)
    test = (p @ (s * (1 - share) ** 2 * w_star_sq) + noise_var) / (1 - p @ share**2 / delta)
    return test, p @ (share**2 * (w_star_sq + test / delta / s))


def test_lazy_networks_are_ridgeless_regression():
    """From a large initialisation the end is the interpolator of least l2 norm, up to 1/alpha^4."""
    law = fl.PowerLaw(60, capacity=1.2, source=1.5)
    exact = law.coordinates()
    s, w = np.asarray(exact.variances()), np.asarray(exact.targets)
    test, square = ridge(s, w**2, np.full(60, 1 / 60), 0.5, 0.05)
    model, task = fl.DiagonalLinear(LAZY), regression(0.5, law)
    assert float(fl.fixed_point(model, task).test_error) == pytest.approx(test, rel=1e-4)
    decayed = fl.DiagonalLinear(LAZY, weight_decay=0.1)
    expected = np.log(LAZY**2 / np.sqrt(square)) / 0.1
    assert float(fl.timescales(decayed, task).rich_sharp) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("aspect_ratio", [0.4, 4.0])
def test_rates_of_lazy_networks_are_edges_of_spectra(aspect_ratio):
    """The least eigenvalue of X^T X/delta at dim 1500, within 6 of the Tracy-Widom law's units of the edge.

    Units are those of equal variances; the law has mean 1.2 and standard deviation 1.3 of them.
    """
    X = np.asarray(fl.draw(regression(aspect_ratio), dim=1500, key=0).X)
    gram = X @ X.T if aspect_ratio < 1 else X.T @ X
    least = np.linalg.eigvalsh(gram)[0] / aspect_ratio
    rate = fl.convergence_rate(fl.DiagonalLinear(LAZY), regression(aspect_ratio))
    few, many = sorted(X.shape)
    unit = (few**-0.5 - many**-0.5) ** (1 / 3) / (many**0.5 - few**0.5)
    assert float(rate.gamma) / LAZY**2 == pytest.approx(least, rel=6 * unit)
    assert float(rate.spectrum.x[0]) == pytest.approx(float(rate.gamma))


@pytest.mark.parametrize(("aspect_ratio", "weight_decay"), [(0.5, 0.0), (1.5, 0.2)])
def test_ends_against_minimisers(aspect_ratio, weight_decay):
    """Dim 400, 6 trials, fixed keys: within 4 standard errors; message passing ends at the same weights."""
    model, task = fl.DiagonalLinear(0.5, weight_decay=weight_decay), regression(aspect_ratio)
    point = fl.fixed_point(model, task)
    data = [fl.draw(task, dim=400, key=key) for key in range(6)]
    found = [fl.minimizer(model, one) for one in data]
    errors = np.array([one.test_error for one in found])
    assert abs(errors.mean() - float(point.test_error)) < 4.0 * errors.std(ddof=1) / 6**0.5
    above = np.mean([np.mean(np.abs(one.w) > 0.2) for one in found])
    predicted = float(0.3 * point.true_positive_rate(0.2) + 0.7 * point.false_positive_rate(0.2))
    assert above == pytest.approx(predicted, abs=4.0 * (0.25 / 2400) ** 0.5)
    passed = fl.amp(model, data[0], num_steps=200)
    assert np.allclose(passed.w, found[0].w, atol=1e-6)
    evolved = fl.state_evolution(model, task, num_steps=200)
    assert float(evolved.test_error[-1]) == pytest.approx(float(point.test_error), rel=1e-9)
    if weight_decay:
        table = fl.sweep(fl.fixed_point, model, task, over={"task.noise_var": [0.05]})
        assert float(table["test_error"][0]) == pytest.approx(float(point.test_error), rel=1e-12)


def test_curves_of_the_lazy_phase_and_phases_refuse():
    with pytest.raises(TypeError, match="curves of the lazy phase are known for features of equal variance"):
        lazy_errors(regression(2.0), np.ones(1))
    training = fl.GradientDescent(0.1, num_steps=1)
    runs = fl.simulate(fl.DiagonalLinear(0.1), regression(2.0), training, dim=10, trials=2, key=0)
    with pytest.raises(TypeError, match="phases are told for features of equal variance"):
        fl.label_phases(runs)
