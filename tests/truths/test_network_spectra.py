"""The diagonal network on features of unequal variances: limits against runs, in combined standard errors."""

import pytest

import flowlimit as fl

pytestmark = pytest.mark.slow

BLOCKS = fl.Features(variance=fl.Empirical([1.0, 0.2]), target=fl.Bernoulli(0.3))
POWER = fl.PowerLaw(400, capacity=1.2, source=1.5)
STEPS = fl.GradientDescent(0.2, num_steps=30)
SHORT_STEPS = fl.GradientDescent(0.05, num_steps=30)  # the first of the teacher's weights is 12: rates are as large
CASES = {
    "two blocks, flow": (fl.DiagonalLinear(0.5), BLOCKS, fl.GradientFlow(3.0), 200),
    "two blocks, depth 3, descent": (fl.DiagonalLinear(0.8, depth=3), BLOCKS, STEPS, 800),
    "power law, descent": (fl.DiagonalLinear(0.5, weight_decay=0.01), POWER, SHORT_STEPS, 800),
}


@pytest.mark.parametrize("case", CASES)
def test_limit_against_runs(case):
    """Dim 200 or 800, 20 trials, fixed keys: all saved times within 4 combined standard errors."""
    model, features, training, dim = CASES[case]
    task = fl.Regression(1.0, noise_var=0.05, features=features)
    observables = {"overlap": lambda w, w_star: w * w_star}
    limit = fl.solve_dmft(model, task, training, rtol=0.05, key=0, observables=observables)
    runs = fl.simulate(model, task, training, dim=dim, trials=20, key=1, save_at=limit.times, observables=observables)
    names = ["train_error", "test_error", "overlap", "norm_2"]
    found = fl.compare(limit, runs, names=names, threshold=4.0)
    assert found.passed, found
