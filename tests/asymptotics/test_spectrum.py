"""The spectrum behind late curves: Marchenko-Pastur at large init scale, sum rules, and fitted tails."""

import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.asymptotics.explicit import infinite_data_weights
from flowlimit.asymptotics.lazy import lazy_amplitudes, lazy_errors
from flowlimit.asymptotics.nodes import law_nodes
from flowlimit.numerics.marchenko_pastur import marchenko_pastur


def make_rate(init_scale, aspect_ratio, noise_var=0.01, weight_decay=0.0):
    task = fl.Regression(aspect_ratio, noise_var=noise_var, target=fl.Bernoulli(0.1))
    return fl.convergence_rate(fl.DiagonalLinear(init_scale, weight_decay=weight_decay), task)


@pytest.mark.slow
@pytest.mark.parametrize("aspect_ratio", [0.5, 2.0])
def test_marchenko_pastur(aspect_ratio):
    rate = make_rate(100.0, aspect_ratio)
    times = np.array([0.5, 2.0, 5.0]) / float(rate.gamma)
    x, weights = marchenko_pastur(aspect_ratio)
    own = np.exp(-1e4 * np.outer(times, x)) @ (weights * (x > 0.0)) * 1e4 / aspect_ratio
    np.testing.assert_allclose(rate.spectrum.decay(jnp.asarray(times), 1.0), own, rtol=1e-6)


@pytest.mark.parametrize(("init_scale", "aspect_ratio"), [(1.0, 0.5), (1.0, 2.0), (0.1, 0.5), (10.0, 2.0)])
def test_total_weight(init_scale, aspect_ratio):
    """The whole spectrum is R_w(0) - R_w(infinity), and R_w(0) = E[root]/delta; the far end is cut and coarse: 1e-3."""
    rate = make_rate(init_scale, aspect_ratio)
    point = rate.point
    nodes = law_nodes(point.channel, jnp.log(point.scale), point.R_w)
    start = float(nodes.mean(nodes.root)) / aspect_ratio
    assert float(rate.spectrum.weights.sum()) == pytest.approx(start - float(point.R_w), rel=1e-3)


@pytest.mark.parametrize("aspect_ratio", [0.5, 2.0])
def test_lazy_amplitudes(aspect_ratio):
    """Against the integrals, extrapolated: corrections are a series in 1/t, of which two terms leave less than 1%."""
    task = fl.Regression(aspect_ratio, noise_var=0.1, target=fl.Bernoulli(0.1))
    edge = (1.0 - aspect_ratio**-0.5) ** 2
    end = lazy_errors(task, np.array([np.inf]))
    for name, multiple, amplitude in zip(("train_error", "test_error"), (2.0, 1.0), lazy_amplitudes(task), strict=True):
        late = np.array([4.0, 6.0, 9.0]) * 2.0 / (multiple * edge)
        excess = getattr(lazy_errors(task, late), name) - getattr(end, name)
        ratio = excess / (amplitude * late**-1.5 * np.exp(-multiple * edge * late))
        extrapolated = np.polyfit(1.0 / late, ratio, 2)[-1]
        assert extrapolated == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("aspect_ratio", [0.5, 2.0])
def test_tail_of_the_lazy_curve(aspect_ratio):
    """Fitted up to gamma t = 2.2, it holds beyond: the training error to rounding, the test error to 1.5%."""
    task = fl.Regression(aspect_ratio, noise_var=0.1, target=fl.Bernoulli(0.1))
    model = fl.DiagonalLinear(1e3)
    rate = fl.convergence_rate(model, task)
    scaled = np.linspace(0.5, 5.0, 40) * 1e6 / float(rate.gamma)
    for name, rtol in (("train_error", 1e-5), ("test_error", 0.015)):
        value = getattr(lazy_errors(task, scaled), name)
        record = fl.Runs(scaled / 1e6, {name: value[None]}, False, model=model, task=task)
        tail = fl.fit_tail(record, name, start=record.times[3], stop=record.times[15])
        found = tail.at(record.times[15:])[name]
        np.testing.assert_allclose(found.value - tail.end, value[15:] - tail.end, rtol=rtol)
        if name == "test_error":  # the reported error is of the size of the true one
            assert (np.abs(found.value - value[15:]) < 3.0 * found.stderr).all()


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_a_tail_needs_finite_values(odd):
    """A run that diverged, or stopped early, has none: a fit would be NaN in silence."""
    model, task = fl.DiagonalLinear(1.0), fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    times = np.linspace(1.0, 10.0, 10)
    record = fl.Runs(times, {"train_error": np.where(times > 6.0, odd, 0.5)[None]}, False, model=model, task=task)
    with pytest.raises(ValueError, match="at time 7 is not finite"):
        fl.fit_tail(record, start=2.0, stop=9.0)


def test_a_tail_names_the_record_whose_model_has_none():
    record = fl.Runs(
        np.arange(3.0),
        {"train_error": np.ones((1, 3))},
        False,
        model=fl.Linear(),
        task=fl.Regression(0.5, noise_var=0.01, target=fl.Normal()),
    )
    with pytest.raises(TypeError, match=r"record: model: given Linear\(\)"):
        fl.fit_tail(record, start=1.0, stop=2.0)


@pytest.mark.slow
def test_tail_of_a_limit():
    """Rate and power against the solver: fitted on a decade of the training error, within 2% on the next two."""
    model, task = fl.DiagonalLinear(1.0), fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    rate = fl.convergence_rate(model, task)
    gamma = float(rate.gamma)
    times = np.linspace(0.0, 4.0, 41) / gamma
    limit = fl.solve_dmft(model, task, fl.GradientFlow(times[-1]), rtol=2e-2, key=0, save_at=times)
    tail = fl.fit_tail(limit, "train_error", start=1.0 / gamma, stop=2.0 / gamma)
    later = times > 2.0 / gamma
    predicted, found = tail.at(times[later])["train_error"].value, limit.train_error[later]
    assert found[0] > 80.0 * found[-1]
    np.testing.assert_allclose(predicted, found, rtol=0.02)


def test_path_rates():
    """The density of per-path rates at infinite data is that of ||w*| - lambda|, and the atom is its part below."""
    rate = make_rate(0.3, 0.5, weight_decay=0.1)
    point = rate.point
    r = np.linspace(0.0, 0.1, 20001)[1:-1]
    spread, x = float(1.0 + point.chi_w), float(point.strength) - float(1.0 + point.chi_w) * r
    inside = np.asarray(point.channel.pdf(jnp.asarray(x)) + point.channel.pdf(-jnp.asarray(x))) * spread
    assert np.sum(inside) * (r[1] - r[0]) == pytest.approx(float(point.atom), rel=1e-3)
    with pytest.raises(ValueError, match="needs subexponential"):
        make_rate(0.3, 0.5).path_density(jnp.zeros(()))
    with pytest.raises(ValueError, match="needs exponential"):
        _ = rate.spectrum


@pytest.mark.slow
def test_powers_with_weight_decay():
    """At infinite data and a target with a density: |w - w(infinity)|^2 falls like t^-3, errors like t^-2."""
    away, step = np.linspace(-7.0, 9.5, 600, retstep=True)  # paths near the threshold .3 matter: a graded grid
    w_star = 0.3 + 1e-4 * np.sinh(away)
    density = np.exp(-0.5 * w_star**2) * 1e-4 * np.cosh(away) * step
    times = np.array([0.0, 200.0, 400.0, 800.0])
    w = np.asarray(infinite_data_weights(*map(jnp.asarray, (times, w_star, 0.5, 0.3))))[1:]
    end = np.sign(w_star) * np.maximum(np.abs(w_star) - 0.3, 0.0)
    square = ((w - end[None]) ** 2) @ density
    error = ((w - w_star[None]) ** 2 - (end - w_star)[None] ** 2) @ density
    np.testing.assert_allclose(np.diff(np.log(square)) / np.log(2.0), -3.0, atol=0.1)
    np.testing.assert_allclose(np.diff(np.log(np.abs(error))) / np.log(2.0), -2.0, atol=0.1)


def test_every_path_has_a_rate():
    """The density of per-path rates has total mass 1, of paths that end at 0 and of others together."""
    rate = make_rate(0.3, 0.5, weight_decay=0.1)
    r = np.linspace(0.0, 3.0, 60_001)
    r = (r[1:] + r[:-1]) / 2  # no node at the jump r = lambda
    assert float(rate.path_density(jnp.asarray(r)).sum()) * (r[1] - r[0]) == pytest.approx(1.0, abs=1e-3)
