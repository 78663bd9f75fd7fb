"""What is known exactly has no error bar: values at time 0, linear models, atoms."""

import numpy as np
import pytest

import flowlimit as fl

pytestmark = pytest.mark.slow

FLOW, STEPS = fl.GradientFlow(1.0), fl.GradientDescent(0.2, num_steps=5)
SQUARE = {"square": lambda w, w_star: (w - w_star) ** 2}


@pytest.mark.parametrize("training", [FLOW, STEPS], ids=["flow", "steps"])
def test_time_0_is_known(training):
    """The errors of a network that begins at w = 0 are E[w*^2] + noise; from the law, to rounding and without a bar."""
    task = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    limit = fl.solve_dmft(fl.DiagonalLinear(0.3), task, training, rtol=0.2, save_at=[0.0, 1.0], observables=SQUARE)
    for name in ("train_error", "test_error"):
        assert limit[name].value[0] == pytest.approx(0.11, rel=1e-12)
        assert limit[name].stderr[0] == 0.0
        assert limit[name].stderr[1] > 0.0
    assert limit["square"].value[0] == pytest.approx(0.1, rel=1e-12)
    assert limit["norm_2"].stderr[0] == limit["square"].stderr[0] == 0.0
    assert "0.11000 " in f"{limit} "


def test_random_initialisation_at_time_0():
    """A linear model's initialisation is random; matched moments make its errors at time 0 exact all the same."""
    task = fl.Regression(2.0, noise_var=0.1, target=fl.Normal())
    limit = fl.solve_dmft(fl.Linear(init_scale=0.5), task, STEPS, rtol=0.1)
    assert limit.test_error[0] == pytest.approx(1.0 + 0.25 + 0.1, rel=1e-12)
    assert (limit.statistical["test_error"] == 0.0).all()
    assert (limit.test_error_stderr == 0.0).all()
    assert np.isfinite(limit.train_error_stderr).all()
