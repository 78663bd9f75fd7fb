"""Steps with a merged history, against the same paths with all steps kept, and against recursions of a linear model."""

from dataclasses import replace

import jax
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.dmft.control.draws import make_merging, make_replica
from flowlimit.dmft.control.plan import make_plan
from flowlimit.dmft.engine.march import march
from flowlimit.dmft.readout.grid import make_grid
from flowlimit.dmft.readout.measure import Measure
from flowlimit.dmft.sampling.paths import Counts
from flowlimit.numerics.marchenko_pastur import marchenko_pastur

SPARSE = fl.Regression(2.0, noise_var=0.01, target=fl.Bernoulli(0.1))
SIGNS = fl.Classification(2.0, target=fl.Normal())
SHORT = fl.StepSolver(whole_history=64)


def plan_of(model, task, training, solver, memory_limit=8e9):
    options = {"key": jax.random.key(0), "rtol": 0.1, "measure": Measure(()), "memory_limit": memory_limit}
    return make_plan(model, task, training, settings=solver, **options)


def both_errors(model, task, training):
    """Return training and test errors of one replica with all steps kept, merged, and merged with half the rows."""
    whole, found = plan_of(model, task, training, fl.StepSolver(whole_history=10_000)), []
    grid = make_grid(whole.clock, None, np.zeros(1), 1)
    short = replace(whole, settings=SHORT)
    own = make_replica(whole, grid.nodes, Counts(64, 16), 0)
    for merging in (None, *(make_merging(short, grid.nodes, rough=rough) for rough in (False, True))):
        rows = march(replace(own, merging=merging), grid.blocks, whole.measure.count)
        found.append(np.asarray(rows.averages)[: grid.nodes, -4:-2])
    return found


@pytest.mark.parametrize(
    ("model", "task", "training", "rtol"),
    [
        (fl.Linear(), SPARSE, fl.GradientDescent(0.1, num_steps=250), 1e-8),
        (fl.DiagonalLinear(0.3), SPARSE, fl.GradientDescent(0.1, num_steps=250), 1e-8),
        (fl.DiagonalLinear(0.3), SPARSE, fl.GradientDescent(0.05, num_steps=250, momentum=0.8), 1e-8),
        # what batches do to few paths is rough in time; that part of their responses is left out
        (fl.DiagonalLinear(0.3), SPARSE, fl.StochasticGradientDescent(0.1, step_size=0.05, num_steps=250), 2e-3),
    ],
    ids=["linear", "network", "momentum", "batches"],
)
def test_the_same_paths(model, task, training, rtol):
    whole, merged, half = both_errors(model, task, training)
    np.testing.assert_allclose(merged, whole, rtol=rtol)
    far = lambda errors: np.abs(errors / whole - 1.0).max()
    assert far(half) > far(merged) or far(half) < 1e-4  # half the rows tell the error of all of them


def test_the_same_paths_of_outputs():
    """Another loss has a history on both sides; the training error is a share of few outputs, and jumps."""
    whole, merged, _ = both_errors(fl.DiagonalLinear(0.5), SIGNS, fl.GradientDescent(0.2, num_steps=200))
    np.testing.assert_allclose(merged[:, 1], whole[:, 1], rtol=1e-5)


@pytest.mark.parametrize("noise", ["batches", "Langevin"])
def test_recursions_of_a_linear_model(noise):
    """Matched moments leave no sampling error, so what is left is the error of merging; it is within the bars."""
    delta, step, steps = 2.0, 0.1, 130
    x, weights = marchenko_pastur(delta)
    training, move = {
        "batches": (
            fl.StochasticGradientDescent(0.2, step_size=step, num_steps=steps),
            lambda train: step**2 * x / delta * 4.0 * train,
        ),
        "Langevin": (fl.Langevin(0.01, step_size=step, num_steps=steps), lambda train: 2.0 * 0.01 * step),
    }[noise]
    task = fl.Regression(delta, noise_var=0.0, target=fl.Normal())
    limit = fl.solve_dmft(fl.Linear(), task, training, solver=fl.StepSolver(whole_history=32))
    D, train = np.ones_like(x), []
    for _ in range(steps + 1):
        train.append((x * D) @ weights)
        D = (1.0 - step * x) ** 2 * D + move(train[-1])
    np.testing.assert_allclose(limit.train_error, train, rtol=1e-7)
    assert np.all(np.abs(limit.train_error - train) < 4.0 * limit.train_error_stderr + 1e-10)


@pytest.mark.parametrize("model", [fl.DiagonalLinear(0.3), fl.Linear()], ids=["network", "linear"])
@pytest.mark.parametrize("noise", ["batches", "Langevin"])
def test_ten_thousand_noisy_steps_fit_into_8_gb(model, noise):
    training = {
        "batches": fl.StochasticGradientDescent(0.1, step_size=0.05, num_steps=10_000),
        "Langevin": fl.Langevin(1e-3, step_size=0.05, num_steps=10_000),
    }[noise]
    assert plan_of(model, SPARSE, training, fl.StepSolver()).known_refusal(10) is None
    assert plan_of(model, SPARSE, training, fl.StepSolver(whole_history=10_001)).known_refusal(10) is not None


@pytest.fixture(scope="module")
def merged():
    training = fl.StochasticGradientDescent(0.5, step_size=0.05, num_steps=100)
    return fl.solve_dmft(fl.DiagonalLinear(0.3), SPARSE, training, rtol=0.3, solver=SHORT)


def test_a_limit_of_its_own(merged):
    """With other paths than a whole history has: within 4 combined standard errors, the key is fixed."""
    whole = fl.solve_dmft(fl.DiagonalLinear(0.3), SPARSE, merged.training, rtol=0.1)
    for name in ("train_error", "test_error"):
        away = np.abs(merged[name].value - whole[name].value)
        assert np.all(away <= 4.0 * np.hypot(merged[name].stderr, whole[name].stderr) + 1e-15)


def test_what_is_not_kept_is_said(merged):
    assert merged.kernels is merged.operators is merged.paths is None
    for ask in (fl.plot.kernels, fl.descent_times, lambda limit: fl.derivative(limit, "model.init_scale")):
        with pytest.raises(ValueError, match=r"StepSolver\(whole_history=101\)"):
            ask(merged)


def test_more_noises_than_columns():
    """Columns that are turned now and then leave every product as it is, up to rounding."""
    training = fl.StochasticGradientDescent(0.1, step_size=0.05, num_steps=550)
    plan = plan_of(fl.DiagonalLinear(0.3), SPARSE, training, fl.StepSolver())
    grid, found = make_grid(plan.clock, None, np.zeros(1), 1), []
    own = make_replica(plan, grid.nodes, Counts(128, 32), 0)  # fewer paths amplify rounding more
    for fresh in (512, 64):
        merging = replace(own.merging, fresh=fresh)
        rows = march(replace(own, merging=merging), grid.blocks, plan.measure.count)
        found.append((rows.noises.shape[1], np.asarray(rows.averages)[: grid.nodes, -4:-2]))
    (many, whole), (few, turned) = found
    assert many > grid.nodes > few
    np.testing.assert_allclose(turned, whole, rtol=1e-9)
