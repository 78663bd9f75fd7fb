"""Debiased weights: intervals that hold the target, no bias where trained weights have one, refusals."""

import debiased_weights
import numpy as np
import own_data
import pytest

import flowlimit as fl


def test_intervals_hold_the_target():
    """8 data sets of 150 x 200: 95% of some 180 zeros and 20 ones each, whose errors are nearly independent.

    Standard errors over 1440 zeros and 160 ones: 0.6% and 1.7%; bars from a finite sample add about 1%. Bounds are 4 of
    these. The mean error of ones has a standard error that the campaign measures, and is 4 of these from 0 at most.
    """
    for line in debiased_weights.campaign(
        debiased_weights.parse(["--sets", "8", "--size", "150x200", "--entries", "normal"])
    ):
        assert abs(line["held_zero"] - 0.95) < 4.0 * 0.012
        assert abs(line["held_one"] - 0.95) < 4.0 * 0.02
        assert abs(line["bias"]) < 4.0 * line["bias_stderr"]


def test_least_squares_has_no_bias_to_take_away():
    """n > d and a long training: X^T u = X^T r/(1 - d/n) is 0 at the fixed point, so weights stay as they are."""
    X, y, _ = own_data.draw(np.random.default_rng(0), 150, np.eye(50), "normal", noise_var=0.1)
    found = fl.estimate_test_error(fl.Linear(), fl.Dataset(X, y), fl.GradientDescent(0.5, num_steps=100), key=1)
    exact = np.linalg.lstsq(X, y, rcond=None)[0]
    debiased = fl.debias(found, time=float(found.times[-1]))
    assert np.allclose(found.weights[-1], exact, atol=1e-3)
    assert np.abs(debiased.weights - exact).max() < 0.5 * debiased.stderr  # what probes leave of u at earlier times
    assert np.isclose(debiased.stderr**2, found.test_error[-1] * 50 / (X**2).sum())
    assert debiased.low[0] < debiased.weights[0] < debiased.high[0]
    assert ((debiased.p_values < 0.05) == (np.abs(debiased.weights) > debiased.reach)).all()
    assert "50 weights at time 50, each to" in repr(debiased)
    with pytest.raises(ValueError, match=r"needs a saved time; the nearest is 0\.5"):
        fl.debias(found, time=0.6)


def test_correlated_features_are_refused():
    X, y, _ = own_data.draw(np.random.default_rng(0), 150, own_data.make_root("blocks", 200), "normal")
    found = fl.estimate_test_error(fl.Linear(), fl.Dataset(X, y), fl.GradientDescent(0.05, num_steps=5))
    with pytest.raises(ValueError, match="features are correlated or of unequal variance"):
        fl.debias(found)
