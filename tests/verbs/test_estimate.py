"""The test error from one run: truth on data that know it, error bars, stopping, refusals and warnings."""

import json

import numpy as np
import own_data
import pytest

import flowlimit as fl
from flowlimit.sweeps.rows import values_of

DESCENT = fl.GradientDescent(0.2, num_steps=30)


@pytest.fixture(scope="module")
def estimate(small):
    return fl.estimate_test_error(fl.DiagonalLinear(0.3), small, DESCENT, key=1)


@pytest.mark.parametrize("covariance", own_data.COVARIANCES)
def test_the_campaign_in_small(covariance):
    """24 data sets: the mean of estimate over truth at its worst time within 4 standard errors of 1, over 30 times.

    Times are strongly correlated, so that 24 data sets stand for little more than 24 trials of coverage: 95% of these
    is at least 80% but for a chance of 0.6%, with fixed keys.
    """
    words = f"--sets 24 --sizes 100x150 --init-scales .3 --trainings descent --covariances {covariance}".split()
    (found,) = own_data.campaign(own_data.parse(words))
    assert abs(found["ratio_worst"] - 1.0) < 4.0 * found["ratio_worst_stderr"]
    assert found["covered"] > 0.8
    assert 0.5 < found["z_sd"] < 1.5
    assert found["regret_median"] < 1.05


def test_the_training_error_alone_would_mislead(estimate):
    """After the last step it is an eighth of the truth, of which the estimate is within 3 standard errors."""
    *_, w_star = own_data.draw(np.random.default_rng(0), 80, np.eye(120), "normal")
    truth = ((estimate.weights[-1] - w_star) ** 2).mean() + own_data.NOISE_VAR
    assert estimate.train_error[-1] < truth / 8.0
    assert abs(estimate.test_error[-1] - truth) < 3.0 * estimate.test_error_stderr[-1]
    assert estimate.test_error[0] == estimate.train_error[0]


def test_training_errors_are_those_of_simulate(small, estimate):
    runs = fl.simulate(fl.DiagonalLinear(0.3), small, DESCENT)
    assert np.allclose(estimate.train_error, runs.train_error, rtol=1e-12)


@pytest.fixture(scope="module")
def of_a_flow(small):
    return fl.estimate_test_error(fl.DiagonalLinear(0.3), small, fl.GradientFlow(6.0), key=1)


def test_a_flow_is_the_descent_with_small_steps(estimate, of_a_flow):
    """Same data, same time, other probes: within 4 standard errors of what probes leave, and the step's 5%."""
    at = 6.0
    one, two = (record.at(at).test_error[0] for record in (estimate, of_a_flow))
    probes = [np.interp(at, record.times, record.probes_error["test_error"]) for record in (estimate, of_a_flow)]
    assert abs(one - two) < 4.0 * np.hypot(*probes) + 0.05 * one


def test_training_errors_of_a_flow_are_those_of_simulate(small, of_a_flow):
    runs = fl.simulate(fl.DiagonalLinear(0.3), small, fl.GradientFlow(6.0))
    assert np.allclose(of_a_flow.train_error, runs.train_error, rtol=1e-3)
    assert (of_a_flow.time_error["test_error"] < 0.01 * of_a_flow.test_error).all()


def test_parts_of_the_bar_add_up(estimate):
    parts = [getattr(estimate, part)["test_error"] for part in ("probes_error", "samples_error", "time_error")]
    assert np.allclose(np.sqrt(sum(part**2 for part in parts)), estimate.test_error_stderr)
    assert estimate.probes_error["test_error"][0] == 0.0  # nothing was kicked yet
    assert (estimate.samples_error["test_error"] > 0.0).all()


def test_more_probes_leave_less(small, estimate):
    """Four times the probes, half the bar; mean over times, with the Student factors of 8 and 32 (1.5 and 1.1)."""
    more = fl.estimate_test_error(fl.DiagonalLinear(0.3), small, DESCENT, probes=32, key=1)
    ratio = more.probes_error["test_error"][5:] / estimate.probes_error["test_error"][5:]
    assert 0.2 < ratio.mean() < 0.6


def test_stopping_is_where_the_curve_is_smallest(estimate):
    stopping = estimate.stopping
    index = int(estimate.test_error.argmin())
    assert (stopping.time, stopping.test_error) == (estimate.times[index], estimate.test_error[index])
    assert stopping.low <= stopping.time <= stopping.high
    assert (estimate.stopped_weights == estimate.weights[index]).all()
    assert "Stopping(time=" in repr(estimate)


def test_the_same_key_gives_the_same_numbers(small, estimate):
    again = fl.estimate_test_error(fl.DiagonalLinear(0.3), small, DESCENT, key=1)
    assert again == estimate
    assert not np.array_equal(fl.estimate_test_error(fl.DiagonalLinear(0.3), small, DESCENT, key=2).test_error, again)


def test_it_is_drawn_and_written(estimate):
    axes = fl.plot.curves(estimate)
    assert [ax.get_ylabel() for ax in axes] == ["training error", "test error"]
    plain = json.loads(json.dumps({name: np.asarray(value).tolist() for name, value in values_of(estimate).items()}))
    assert {"test_error", "test_error_samples_error", "stopping_time", "stopping_low"} <= plain.keys()
    assert estimate.to_datatree()["errors/probes_error/test_error"].shape == estimate.times.shape


def test_it_comes_back_from_a_file(estimate, small, tmp_path):
    fl.save(estimate, tmp_path / "estimate.zarr")
    back = fl.load(tmp_path / "estimate.zarr", task=small)
    assert back == estimate
    assert (repr(back), back.stopping, back.stats) == (repr(estimate), estimate.stopping, estimate.stats)
    assert back.task is small
    assert fl.load(tmp_path / "estimate.zarr").task is None  # data are not kept


def test_an_intercept_counts():
    """Centred data: at time 0 the variance of y over (1 - 1/n)^2, which is n/(n - 1) of the unbiased one, to 1/n^2."""
    X, y, _ = own_data.draw(np.random.default_rng(0), 80, np.eye(120), "normal")
    prepared = fl.prepare(X + 1.0, y + 2.0, scale=False)
    found = fl.estimate_test_error(fl.DiagonalLinear(0.3), prepared.dataset, DESCENT, key=1)
    assert np.isclose(found.test_error[0], y.var() / (1.0 - 1.0 / 80) ** 2, rtol=1e-12)
    assert np.isclose(found.train_error[0], y.var(), rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [fl.Linear(0.1, init_scale=0.5), fl.DiagonalLinear(0.8, depth=3), fl.Reparametrized(lambda x: x**3, init=0.6)],
    ids=repr,
)
def test_any_model_of_one_output(model, small):
    """Estimate and truth within 4 standard errors at the end; a fixed key."""
    found = fl.estimate_test_error(model, small, fl.GradientDescent(0.1, num_steps=20, momentum=0.3))
    *_, w_star = own_data.draw(np.random.default_rng(0), 80, np.eye(120), "normal")  # as in the fixture
    truth = ((found.weights[-1] - w_star) ** 2).mean() + own_data.NOISE_VAR
    assert abs(found.test_error[-1] - truth) < 4.0 * found.test_error_stderr[-1]


def test_steps_are_kicked_one_by_one_where_smooth_kicks_miss(small, estimate):
    """Steps so long that residuals change sign at each of them; exact kicks leave no error in time, smooth ones do."""
    found = fl.estimate_test_error(fl.Linear(), small, fl.GradientDescent(0.4, num_steps=25), key=1)
    assert (found.time_error["test_error"] == 0.0).all()
    assert estimate.time_error["test_error"].max() > 0.0
    *_, w_star = own_data.draw(np.random.default_rng(0), 80, np.eye(120), "normal")
    truth = ((found.weights - w_star) ** 2).mean(axis=1) + own_data.NOISE_VAR
    assert (np.abs(found.test_error - truth) < 4.0 * found.test_error_stderr).all()


@pytest.mark.filterwarnings("ignore:40 samples are few")
def test_a_flow_with_fewer_samples_than_nodes_says_where_it_is_noise():
    """Probes cannot be orthogonal in time: right where their bar is small, and warned of where it is not."""
    X, y, w_star = own_data.draw(np.random.default_rng(0), 40, np.eye(60), "normal")
    with pytest.warns(fl.StrainWarning, match="probes leave more than 50% of the estimate at times from"):
        found = fl.estimate_test_error(fl.DiagonalLinear(0.3), fl.Dataset(X, y), fl.GradientFlow(15.0), key=1)
    assert found.stats.nodes > 40
    truth = ((found.weights - w_star) ** 2).mean(axis=1) + own_data.NOISE_VAR
    known = found.probes_error["test_error"] < 0.5 * found.test_error
    assert 10 < known.sum() < len(known)
    assert (np.abs(found.test_error - truth) < 4.0 * found.test_error_stderr)[known].all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dataset": fl.Regression(0.5, noise_var=0.1, target=fl.Normal())}, "needs concrete data"),
        ({"training": fl.StochasticGradientDescent(0.5, step_size=0.1, num_steps=3)}, "whose steps are random"),
        ({"training": fl.Langevin(0.1, step_size=0.1, num_steps=3)}, "known for full gradients"),
        ({"dataset": fl.Dataset(np.eye(4), np.ones(4))}, "needs at least 10"),
        ({"probes": 1}, "probes: given 1, needs an int of at least 2"),
        ({"model": fl.Reparametrized(lambda x: x, init=[0.1, 0.1])}, "output"),
        ({"memory_limit": 1000}, "memory_limit: 31 steps with 8 probes on 80 samples need"),
    ],
    ids=str,
)
def test_what_the_theory_does_not_cover_is_refused(change, message, small):
    given = {"model": fl.DiagonalLinear(0.3), "dataset": small, "training": DESCENT} | change
    with pytest.raises((TypeError, ValueError), match=message):
        fl.estimate_test_error(**given)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, y: (X[:40], y[:40]), "40 samples are few"),
        (lambda X, y: (np.r_[X, X[:3]], np.r_[y, y[:3]]), "3 rows of X are repeated"),
        (lambda X, y: (X * np.where(np.arange(80) < 3, 6.0, 1.0)[:, None], y), "squared norms of the rows"),
        (lambda X, y: (X, np.where(np.arange(80) < 1, 50.0, y)), "labels have kurtosis"),
    ],
)
def test_what_strains_the_theory_is_warned_of(spoil, message, small):
    data = fl.Dataset(*spoil(np.asarray(small.X), np.asarray(small.y)))
    with pytest.warns(fl.StrainWarning, match=message):
        found = fl.estimate_test_error(fl.Linear(), data, fl.GradientDescent(0.05, num_steps=3))
    assert any(message in strain for strain in found.strains)


def test_it_can_be_stopped_and_it_says_where_it_diverged(small):
    training = fl.GradientDescent(0.2, num_steps=200)
    stopped = fl.estimate_test_error(fl.DiagonalLinear(0.3), small, training, progress=lambda fraction, message: True)
    assert stopped.result.code is fl.Code.STOPPED
    assert len(stopped.times) == 64
    with pytest.raises(fl.FlowlimitError, match="ceased to be finite"):
        fl.estimate_test_error(fl.DiagonalLinear(0.3), small, fl.GradientDescent(30.0, num_steps=60))
