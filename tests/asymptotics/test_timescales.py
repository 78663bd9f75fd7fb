"""Timescales, explicit solutions of the phases, labels on curves, and the small-start lasso path."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import flowlimit as fl
from flowlimit.asymptotics.explicit import infinite_data_weights, logistic_weights, search_weights
from flowlimit.asymptotics.lazy import lazy_errors
from flowlimit.asymptotics.phases import crossing_times, learning_times

TASK = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))


def flow(w_star, init_scale, weight_decay, times):
    """Integrate eq. (dmft_inf_delta) as printed, with scipy."""
    root = lambda t, w: np.sqrt(w**2 + init_scale**4 * np.exp(-2.0 * weight_decay * t))
    drift = lambda t, w: -root(t, w) * (w - w_star) - weight_decay * w
    found = solve_ivp(drift, (0.0, times[-1]), [0.0], method="LSODA", t_eval=times, rtol=1e-10, atol=1e-13)
    return found.y[0]


def infinite_data(end, w_star, init_scale, weight_decay):
    """Times and weights; of one shape in all tests, so that one program serves them."""
    times, w_star = np.linspace(0.0, end, 801), np.resize(w_star, 3)
    given = (jnp.asarray(x) for x in (times, w_star, init_scale, weight_decay))
    return times, np.asarray(infinite_data_weights(*given))


@pytest.mark.slow
@pytest.mark.parametrize(("init_scale", "weight_decay"), [(1e-3, 0.0), (0.1, 0.2), (1.0, 0.0), (30.0, 0.5)])
def test_infinite_data(init_scale, weight_decay):
    w_star = np.array([1.0, -0.5, 0.1])
    times, found = infinite_data(40.0, w_star, init_scale, weight_decay)
    for column, target in enumerate(w_star):
        expected = flow(target, init_scale, weight_decay, times)
        np.testing.assert_allclose(found[:, column], expected, rtol=1e-6, atol=1e-8)


@pytest.mark.slow
def test_search_phase():
    """W(t) is alpha^2 times the flow at infinite data while weights are small, and the formula of the paper."""
    times, pull, decay = jnp.array([0.5, 2.0, 4.0]), jnp.array([1.0, -0.3]), 0.2
    found = search_weights(times, pull, decay)
    size, sign = np.abs(pull), np.sign(pull)
    t = np.asarray(times)[:, None]
    np.testing.assert_allclose(found, sign / 2 * (1 - np.exp(-2 * size * t)) * np.exp((size - decay) * t), rtol=1e-12)
    exact = infinite_data(4.0, np.asarray(pull), 1e-4, decay)[1][[100, 400, 800], :2]
    np.testing.assert_allclose(1e-8 * found, exact, rtol=1e-5)


@pytest.mark.parametrize("decay", [0.0, 0.3, 1.0, 1.5])
def test_logistic_phase(decay):
    """A solution of w' = -|w| (w - w*) - lambda w, by differences; D = 0 included."""
    times, step = np.linspace(0.0, 5.0, 5001, retstep=True)
    w = np.asarray(logistic_weights(jnp.asarray(times), jnp.array([1.0, -1.0]), jnp.array([0.2, 0.2]), decay))
    np.testing.assert_allclose(w[:, 1], -w[:, 0], rtol=1e-12)
    middle = w[1:-1, 0]
    np.testing.assert_allclose(
        (w[2:, 0] - w[:-2, 0]) / (2 * step), -middle * (middle - 1.0) - decay * middle, atol=1e-6
    )


@pytest.mark.slow
def test_lazy_phase():
    """Init scale 100 against simulation: 4 standard errors of the runs, and the network's own order 1e-4."""
    model, times = fl.DiagonalLinear(100.0), np.array([0.0, 3e-5, 1e-4, 3e-4])
    runs = fl.simulate(model, TASK, fl.GradientFlow(3e-4), dim=500, trials=20, key=0, save_at=times)
    found = fl.timescales(model, TASK).lazy_errors(times)
    for name in ("train_error", "test_error"):
        curve = runs[name]
        np.testing.assert_array_less(np.abs(curve.value - getattr(found, name)), 4.0 * curve.stderr + 1e-4)


def test_scales():
    large, small = (
        fl.timescales(fl.DiagonalLinear(100.0, weight_decay=0.1), TASK),
        fl.timescales(fl.DiagonalLinear(0.01, weight_decay=0.1), TASK),
    )
    assert (large.regime, small.regime) == ("large", "small")
    assert float(large.lazy) == pytest.approx(1e-4)
    assert float(large.rich) == pytest.approx(20.0 * np.log(100.0))
    assert np.isinf(float(fl.timescales(fl.DiagonalLinear(100.0), TASK).rich))
    # r^2 = E[w^2] at the end of the lazy phase: the test error's end is rho^2 (1 - delta) + sigma^2/(1 - delta)
    end = lazy_errors(TASK, np.array([np.inf])).test_error[0]
    assert end == pytest.approx(0.1 * 0.5 + 0.01 / 0.5)
    assert float(large.rich_sharp - large.rich) == pytest.approx(-np.log(np.sqrt(0.5 * (0.1 + 0.01 / 0.5))) / 0.1)
    # the median pull of targets is where half of them are learnt by the descent time
    assert float(small.learnt(small.descent)) == pytest.approx(0.5, abs=1e-9)
    assert float(small.descent_time(jnp.array(1.1))) == pytest.approx(2.0 * np.log(100.0))
    assert np.isinf(float(small.descent_time(jnp.array(0.05))))
    late = small.false_alarms(jnp.array([1.0, 10.0, 100.0]))
    assert (np.diff(np.asarray(late)) > 0.0).all()


def test_order_of_learning():
    """Shares of drawn pulls, 4 binomial standard errors."""
    rng, times = np.random.default_rng(0), fl.timescales(fl.DiagonalLinear(1e-3), TASK)
    pull = 1.0 + np.sqrt(0.11 / 0.5) * rng.normal(size=20_000)
    for t in (8.0, 14.0, 30.0):
        share = np.mean(np.asarray(times.descent_time(jnp.asarray(pull))) < t)
        assert float(times.learnt(jnp.array(t))) == pytest.approx(share, abs=4.0 * 0.5 / np.sqrt(20_000))


@pytest.mark.slow
@pytest.mark.parametrize(("init_scale", "bound"), [(0.01, 0.1), (1e-4, 0.05)])
def test_descent_at_infinite_data(init_scale, bound):
    times, w = infinite_data(60.0, np.array([1.0, 0.6]), init_scale, 0.1)
    found = learning_times(times, w, np.array([1.0, 0.6, 1.0]))[:2]
    scales = fl.timescales(fl.DiagonalLinear(init_scale, weight_decay=0.1), TASK)
    predicted = np.asarray(scales.descent_time(jnp.array([1.0, 0.6])))
    ratio = found / predicted
    assert (ratio > 1.0).all()
    assert (ratio < 1.0 + bound).all()


def test_rich_phase_at_infinite_data():
    times, w = infinite_data(300.0, np.array([1.0]), 1e4, 0.1)
    halfway = crossing_times(times[2:], (w[2:] - 1.0) ** 2, np.full(3, 0.005))[0]
    assert halfway / float(fl.timescales(fl.DiagonalLinear(1e4, weight_decay=0.1), TASK).rich) == pytest.approx(
        1.0, abs=0.01
    )


@pytest.mark.slow
def test_labels_of_a_limit_and_of_runs():
    """The descent of paths is predicted by their own z; runs and limit agree on the median descent time.

    The median over some 120 targets of the runs has a standard error of about 10%: 4 of them are allowed.
    """
    model, horizon, times = fl.DiagonalLinear(1e-2), fl.GradientFlow(18.0), np.linspace(0.0, 18.0, 37)
    limit = fl.solve_dmft(model, TASK, horizon, rtol=5e-2, key=0)
    phases = fl.label_phases(limit)
    assert 1.0 < phases.ratio["descent"] < 1.15
    runs = fl.simulate(model, TASK, horizon, dim=400, trials=3, key=0, weights_at=times)
    assert fl.label_phases(runs).detected["descent"] == pytest.approx(phases.detected["descent"], rel=0.4)
    assert "descent" in repr(phases)
    averaged = limit.time_averaged()
    path = fl.small_init_path(model, TASK, averaged.times[-1:])
    assert path.test_error[0] == pytest.approx(averaged.test_error[-1], rel=0.08)
    assert path.train_error[0] == pytest.approx(averaged.train_error[-1], rel=0.03)
    weights = runs.weights.mean(axis=1)  # equal times: an average over time by the trapezoidal rule, nearly
    errors = ((weights - runs.w_star) ** 2).mean(axis=1) + 0.01
    stderr = errors.std(ddof=1) / np.sqrt(len(errors))
    assert averaged.test_error[-1] == pytest.approx(errors.mean(), abs=4.0 * stderr + 0.002)


def test_labels_need_what_they_show():
    model = fl.DiagonalLinear(100.0, weight_decay=0.5)
    flat = {name: np.ones((2, 2)) for name in ("train_error", "test_error")}
    phases = fl.label_phases(fl.Runs(np.array([0.0, 50.0]), flat, False, model=model, task=TASK))
    assert np.isnan(phases.detected["rich"])
    with pytest.raises(ValueError, match="below 1"):
        fl.small_init_path(model, TASK, 3.0)
    with pytest.raises(ValueError, match="times above 0"):
        fl.small_init_path(fl.DiagonalLinear(0.1), TASK, 0.0)


@pytest.mark.slow
def test_small_init_path_is_a_lasso():
    """One point of the path is the fixed point of a network with that weight decay."""
    path = fl.small_init_path(fl.DiagonalLinear(1e-2, weight_decay=0.05), TASK, [10.0, 40.0])
    for penalty, train, test in zip(path.penalty, path.train_error, path.test_error, strict=True):
        point = fl.fixed_point(fl.DiagonalLinear(1e-2, weight_decay=penalty), TASK)
        assert (train, test) == pytest.approx((float(point.train_error), float(point.test_error)), rel=1e-9)


def test_search_time_is_one_over_the_typical_pull():
    times = fl.timescales(fl.DiagonalLinear(1e-2), TASK)
    pull = times.pull
    second = float(pull.probability @ (pull.mean**2 + pull.std**2))
    assert float(times.search) == pytest.approx(second**-0.5, rel=1e-9)
    assert second == pytest.approx(0.1 + 0.11 / 0.5)


def test_search_weights_solve_their_equation():
    """W = w/alpha^2 obeys W' = pull sqrt(W^2 + e^(-2 lambda t)) - lambda W, by differences."""
    times, decay = np.linspace(0.0, 2.0, 2001), 0.3
    w = np.asarray(search_weights(jnp.asarray(times), jnp.array([1.2, -0.4]), decay))
    middle, slope = w[1:-1], (w[2:] - w[:-2]) / (2.0 * times[1])
    root = np.sqrt(middle**2 + np.exp(-2.0 * decay * times[1:-1])[:, None])
    np.testing.assert_allclose(slope, np.array([1.2, -0.4]) * root - decay * middle, atol=1e-6)


def test_crossings_are_interpolated():
    """Exactly so for straight lines, and for exponentials where logs are joined."""
    times = np.array([0.0, 1.0, 3.0, 4.0])
    found = crossing_times(times, np.stack([2.0 * times, times - 5.0], axis=1), np.array([3.0, 0.0]))
    assert found.tolist() == [1.5, np.inf]
    grown = learning_times(times, np.exp(times[:, None] - 2.5) * np.array([[1.0, -1.0]]), np.array([2.0, -4.0]))
    assert grown == pytest.approx([2.5, 2.5 + np.log(2.0)])


@pytest.mark.slow
def test_penalty_of_the_small_start_path():
    """At infinite data w rests at 0 until the descent time and at w* - lambda after it: averaged, w* less a penalty."""
    model, t, w_star = fl.DiagonalLinear(1e-2, weight_decay=0.05), 40.0, 1.0
    left = float(fl.timescales(model, TASK).descent_time(jnp.array(w_star)))
    averaged = (w_star - 0.05) * (1.0 - left / t)
    assert fl.small_init_path(model, TASK, [t]).penalty[0] == pytest.approx(w_star - averaged)


def test_the_sharp_rich_time_at_aspect_ratio_one():
    """Without noise least squares has the target's weights; with noise they are infinite."""
    network = fl.DiagonalLinear(100.0, weight_decay=0.1)
    times = lambda noise: fl.timescales(network, fl.Regression(1.0, noise_var=noise, target=fl.Bernoulli(0.1)))
    assert float(times(0.0).rich_sharp - times(0.0).rich) == pytest.approx(-np.log(np.sqrt(0.1)) / 0.1)
    assert float(times(0.01).rich_sharp) == -np.inf
