"""Records: means with errors, times, printing."""

import dataclasses

import numpy as np
import pytest

import flowlimit as fl
from flowlimit.results import uncertain


@pytest.fixture(scope="module")
def flow_runs():
    task = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    return fl.simulate(fl.DiagonalLinear(0.3), task, fl.GradientFlow(10.0), dim=60, trials=4, weights_at=[10.0])


@pytest.fixture(scope="module")
def step_runs():
    task = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    return fl.simulate(fl.DiagonalLinear(0.3), task, fl.GradientDescent(0.1, num_steps=20), dim=60, trials=4)


@pytest.mark.parametrize(
    ("value", "stderr", "text"),
    [
        (0.05192, 0.00021, "0.0519(2)"),
        (0.05192, 0.0096, "0.05(1)"),
        (1.0, 0.5, "1.0(5)"),
        (1234.5, 67.0, "1230(70)"),
        (3.2e-9, 4e-11, "3.20(4)e-09"),
        (-2.5e7, 1e5, "-2.50(1)e+07"),
        (0.0, 0.01, "0.00(1)"),
        (0.0, 0.0, "0.0000"),
        (1.0, float("nan"), "1.0000"),
        (float("inf"), 1.0, "inf"),
        (1.5, 1e-15, "1.5000"),
    ],
)
def test_uncertain_numbers(value, stderr, text):
    assert uncertain(value, stderr) == text


@pytest.mark.slow
def test_mean_and_standard_error(step_runs):
    values = step_runs.values["test_error"]
    assert step_runs.test_error == pytest.approx(values.mean(axis=0))
    assert step_runs.test_error_stderr == pytest.approx(np.std(values, axis=0, ddof=1) / 2.0)
    assert step_runs.train_error_stderr.shape == step_runs.train_error.shape == (21,)


@pytest.mark.slow
def test_one_trial_has_no_standard_error(task):
    runs = fl.simulate(fl.Linear(), task, fl.GradientDescent(0.1, num_steps=2), dim=20, trials=1)
    assert np.isnan(runs.test_error_stderr).all()


@pytest.mark.slow
def test_at_saved_times(step_runs, flow_runs):
    assert step_runs.at([0.3, 2.0]).train_error == pytest.approx(step_runs.train_error[[3, 20]], rel=0, abs=0)
    assert step_runs.at(0.0).train_error[0] == step_runs.train_error[0]
    assert flow_runs.at(flow_runs.times).test_error == pytest.approx(flow_runs.test_error, rel=0, abs=0)


@pytest.mark.slow
def test_at_other_times(step_runs, flow_runs):
    with pytest.raises(ValueError, match=r"no step was saved at time 0\.25; ask for step times"):
        step_runs.at([0.25, 0.3])
    with pytest.raises(ValueError, match="the record covers 0 to 10; extend the horizon"):
        flow_runs.at([3.0, 11.0])


@pytest.mark.slow
def test_at_corners(task):
    steps = fl.simulate(fl.Linear(), task, fl.GradientDescent(0.7, num_steps=7), dim=20, trials=2)
    assert steps.at(4.9).train_error[0] == steps.train_error[-1]  # 7 x 0.7 is not 4.9 in binary
    single = fl.simulate(fl.Linear(), task, fl.GradientDescent(0.1, num_steps=7), dim=20, trials=2, save_at=[0.5])
    assert single.at(0.5).train_error.shape == (1,)
    assert "train_error" in repr(single.at(0.5))
    with pytest.raises(ValueError, match="0 times were asked for"):
        single.at([])
    few = fl.simulate(fl.Linear(), task, fl.GradientFlow(5.0), dim=20, trials=2, save_at=[0, 5])
    with pytest.raises(ValueError, match="2 saved times are too few to interpolate between"):
        few.at(1.0)


@pytest.mark.slow
def test_saved_times_keep_their_error_among_others(flow_runs):
    saved = flow_runs.times[40]
    mixed = flow_runs.at([saved, 1.01 * saved])
    assert mixed.train_error_stderr[0] == flow_runs.train_error_stderr[40]


def test_interpolation_is_honest(flow_runs):
    """Between saved times: the true curve lies within the reported error, which is small."""
    wanted = np.array([0.0042, 0.37, 2.22, 7.77])
    nouns = flow_runs.model, flow_runs.task, flow_runs.training
    exact = fl.simulate(*nouns, dim=60, trials=4, save_at=wanted)
    between = flow_runs.at(wanted)
    extra = np.sqrt(np.maximum(between.train_error_stderr**2 - exact.train_error_stderr**2, 0.0))
    assert (np.abs(between.train_error - exact.train_error) <= 3 * extra + 1e-6).all()
    assert (np.abs(between.train_error / exact.train_error - 1.0) < 1e-3).all()


def test_printing(flow_runs, step_runs):
    text = repr(flow_runs)
    assert text.startswith("Runs: 4 trials, dim 60, balanced draws\n  DiagonalLinear(init_scale=0.3)\n")
    assert "Tsit5, weights to a relative 1e-06" in text
    assert "test_error" in text
    assert "(" in repr(step_runs.at([0.5, 1.0])).splitlines()[1]


def test_outcomes():
    fl.Outcome().raise_if_failed()
    fl.Outcome(fl.Code.STOPPED, "by hand").raise_if_failed()
    with pytest.raises(fl.FlowlimitError, match="diverged: at once"):
        fl.Outcome(fl.Code.DIVERGED, "at once").raise_if_failed()


def test_time_averages_do_not_need_early_saves():
    """One late save: the noise is the problem's, not what a curve interpolated to the first node leaves."""
    nodes = np.array([0.5, 1.0])
    flat = np.full((2, 2), 0.2)
    kernels = fl.Kernels(nodes, flat, flat, flat, flat, stderr=dict.fromkeys(("C_w", "C_f", "R_w", "R_f"), 0.0 * flat))
    operators = fl.Operators(nodes, nodes, np.tril(np.full((2, 2), 0.5)), flat, flat)
    curve = {"train_error": np.full((2, 1), 0.2), "test_error": np.full((2, 1), 0.3)}
    limit = fl.Limit(np.array([1.0]), curve, discrete=False, kernels=kernels, operators=operators)
    with pytest.raises(ValueError, match="provenance has no noise_var"):
        limit.time_averaged()
    known = dataclasses.replace(limit, provenance={"problem": {"task": {"noise_var": 0.1}}})
    averaged = known.time_averaged()
    assert averaged.test_error == pytest.approx([0.3, 0.3])
    assert averaged.train_error == pytest.approx([0.2, 0.2])
