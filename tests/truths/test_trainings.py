"""Trainings in steps of a linear model against their second-moment recursions on the Marchenko-Pastur spectrum."""

import numpy as np
import pytest

import flowlimit as fl
from flowlimit.numerics.marchenko_pastur import marchenko_pastur

pytestmark = pytest.mark.slow

DELTA, STEP, STEPS = 2.0, 0.2, 25
X, WEIGHTS = marchenko_pastur(DELTA)


def recursion(move, kept=1.0):
    """Return training and test error from D(x), the mean square of w - w* on an eigenvector, step by step."""
    D, train, test = np.ones_like(X), [], []
    for _ in range(STEPS + 1):
        train.append((X * D) @ WEIGHTS)
        test.append(D @ WEIGHTS)
        D = (1.0 - STEP * X) ** 2 * D + move(train[-1])
    return np.array(train), np.array(test)


def batches(fraction, label_noise):
    return lambda train: STEP**2 * X / DELTA * ((1 / fraction - 1) * train + label_noise**2 / fraction)


@pytest.mark.parametrize(
    ("training", "move"),
    [
        (fl.StochasticGradientDescent(0.5, step_size=STEP, num_steps=STEPS), batches(0.5, 0.0)),
        (fl.StochasticGradientDescent(0.3, step_size=STEP, num_steps=STEPS, label_noise=0.4), batches(0.3, 0.4)),
        (fl.StochasticGradientDescent(1.0, step_size=STEP, num_steps=STEPS, label_noise=0.4), batches(1.0, 0.4)),
        (fl.Langevin(0.05, step_size=STEP, num_steps=STEPS), lambda train: 2 * 0.05 * STEP),
    ],
    ids=["batches", "batches and labels", "labels", "Langevin"],
)
def test_noisy_steps(training, move):
    limit = fl.solve_dmft(fl.Linear(), fl.Regression(DELTA, noise_var=0.0, target=fl.Normal()), training)
    train, test = recursion(move)
    np.testing.assert_allclose(limit.train_error, train, rtol=1e-8)
    np.testing.assert_allclose(limit.test_error, test, rtol=1e-8)
    np.testing.assert_allclose(np.diagonal(limit.kernels.C_w), test, rtol=1e-8)
    between = (1.0 - STEP * X) ** STEPS @ WEIGHTS  # later noise does not know of the start
    assert limit.kernels.C_w[-1, 0] == pytest.approx(between, rel=1e-8)


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_with_a_schedule(nesterov):
    """Each eigenvector is an oscillator of its own; step sizes fall, weight decay ends."""
    sizes, decay, beta = 0.1 / (1 + 0.1 * np.arange(STEPS)), 0.2 * (np.arange(STEPS) < 10), 0.8
    training = fl.GradientDescent(
        sizes, num_steps=STEPS, momentum=beta, nesterov=nesterov, decay_factor=lambda i: float(i < 10)
    )
    limit = fl.solve_dmft(
        fl.Linear(weight_decay=0.2), fl.Regression(DELTA, noise_var=0.0, target=fl.Normal()), training
    )
    w, v, errors = np.zeros_like(X), np.zeros_like(X), [1.0]  # in units of w*
    for size, strength in zip(sizes, decay, strict=True):
        p = X * (1.0 - w) - strength * w
        v = beta * v + p
        w = w + size * (p + beta * v if nesterov else v)
        errors.append((1.0 - w) ** 2 @ WEIGHTS)
    np.testing.assert_allclose(limit.test_error, errors, rtol=1e-8)
    np.testing.assert_allclose(limit.times, np.r_[0.0, np.cumsum(sizes)])


def test_a_kept_batch_is_less_data():
    """Half of the samples, each with twice the weight: descent at half the aspect ratio; the unseen half is new."""
    model, target = fl.Linear(0.1, init_scale=0.3), fl.Bernoulli(0.3)
    kept = fl.solve_dmft(
        model,
        fl.Regression(DELTA, noise_var=0.1, target=target),
        fl.StochasticGradientDescent(0.5, step_size=STEP, num_steps=STEPS, persistent=True),
    )
    less = fl.solve_dmft(
        model, fl.Regression(DELTA / 2, noise_var=0.1, target=target), fl.GradientDescent(STEP, num_steps=STEPS)
    )
    np.testing.assert_allclose(kept.test_error, less.test_error, rtol=1e-8)
    np.testing.assert_allclose(kept.train_error, (less.train_error + less.test_error) / 2, rtol=1e-8)


@pytest.mark.parametrize("model", [fl.Linear(0.1, init_scale=0.3), fl.DiagonalLinear(0.5)], ids=["linear", "network"])
@pytest.mark.parametrize(
    "training",
    [
        fl.StochasticGradientDescent(1.0, step_size=STEP, num_steps=STEPS),
        fl.GradientDescent(STEP, num_steps=STEPS, momentum=1e-70),
        fl.Langevin(0.0, step_size=STEP, num_steps=STEPS),
    ],
    ids=["whole batches", "no momentum", "cold"],
)
def test_nothing_added_is_gradient_descent(model, training):
    """In the limit for the linear model, which has no sampling error, and at finite size for both."""
    task, plain = (
        fl.Regression(DELTA, noise_var=0.1, target=fl.Bernoulli(0.3)),
        fl.GradientDescent(STEP, num_steps=STEPS),
    )
    one, two = (fl.simulate(model, task, steps, dim=50, trials=2, key=0) for steps in (training, plain))
    np.testing.assert_allclose(one.test_error, two.test_error, rtol=1e-12)
    if isinstance(model, fl.Linear):
        first, second = (fl.solve_dmft(model, task, steps) for steps in (training, plain))
        np.testing.assert_allclose(first.train_error, second.train_error, rtol=1e-10)


@pytest.mark.parametrize("part", [0.9, 1.1])
def test_up_to_and_past_the_stability_edge(part):
    """Steps of 0.9 and 1.1 times 2/(1 + delta^-1/2)^2: errors fall, or grow at the rate of the spectrum's edge.

    The limit is exact; runs at dim 400, whose largest eigenvalue differs from trial to trial, agree in the mean of the
    logarithm within 4 standard errors and 5%, their bias: the largest eigenvalue's mean is below the edge by d^(-2/3).
    """
    step, steps = part * 2.0 / (1.0 + DELTA**-0.5) ** 2, 40
    problem = (
        fl.Linear(),
        fl.Regression(DELTA, noise_var=0.0, target=fl.Normal()),
        fl.GradientDescent(step, num_steps=steps),
    )
    limit = fl.solve_dmft(*problem)
    exact = (1.0 - step * X) ** (2 * np.arange(steps + 1)[:, None]) @ WEIGHTS
    np.testing.assert_allclose(limit.test_error, exact, rtol=1e-7)
    assert (limit.test_error[-1] > limit.test_error[-2]) == (part > 1.0)
    logs = np.log(fl.simulate(*problem, dim=400, trials=20, key=0).values["test_error"][:, -1])
    away = abs(logs.mean() - np.log(exact[-1]))
    assert away < 4.0 * logs.std(ddof=1) / np.sqrt(20) + 0.05 * abs(np.log(exact[-1]))


def test_far_past_the_edge_both_say_so():
    problem = (
        fl.Linear(),
        fl.Regression(DELTA, noise_var=0.0, target=fl.Normal()),
        fl.GradientDescent(1e3, num_steps=120),
    )
    assert fl.solve_dmft(*problem, throw=False).result.code is fl.Code.DIVERGED
    assert fl.simulate(*problem, dim=40, trials=2, throw=False).result.code is fl.Code.DIVERGED


def test_best_time():
    """Of the limit, the smallest value of its curve; of runs, each trial's own, so no larger than the mean's."""
    problem = (
        fl.Linear(),
        fl.Regression(1.0, noise_var=0.5, target=fl.Normal()),
        fl.GradientDescent(STEP, num_steps=STEPS),
    )
    limit, runs = fl.solve_dmft(*problem), fl.simulate(*problem, dim=100, trials=10, key=0)
    best = limit.best()
    assert best.value == pytest.approx(limit.test_error.min())
    assert best.time == limit.times[limit.test_error.argmin()]
    assert best.time_stderr == 0.0
    assert runs.best().value <= runs.test_error.min()
    assert runs.best().value_stderr > 0.0
    with pytest.raises(ValueError, match="needs a finite curve"):
        limit.best("accuracy")


def test_trials_of_noisy_steps_differ_on_fixed_data(dataset):
    """Data and start are the same in all trials, batches are not."""
    batches = fl.StochasticGradientDescent(0.5, step_size=STEP, num_steps=5)
    runs = fl.simulate(fl.Linear(), dataset, batches, trials=3, key=0)
    assert len({float(x) for x in runs.values["train_error"][:, -1]}) == 3
    with pytest.raises(ValueError, match="all trials would be the same"):
        fl.simulate(fl.Linear(), dataset, fl.GradientDescent(STEP, num_steps=5), trials=3)
    kept = fl.simulate(
        fl.Linear(), dataset, fl.StochasticGradientDescent(0.5, step_size=STEP, num_steps=5, persistent=True), trials=3
    )
    assert kept.values["train_error"][:, -1].std() > 0.0


def test_refusals():
    with pytest.raises(ValueError, match="squared loss"):
        fl.simulate(
            fl.Linear(),
            fl.Classification(1.0, target=fl.Normal()),
            fl.StochasticGradientDescent(0.5, step_size=STEP, num_steps=5, label_noise=0.1),
            dim=20,
        )
    with pytest.raises(ValueError, match="one for each of the 5 steps"):
        fl.GradientDescent([0.1, 0.2], num_steps=5)
    with pytest.raises(ValueError, match="step_size"):
        fl.GradientDescent(lambda i: 0.1 - 0.05 * i, num_steps=5)
    with pytest.raises(ValueError, match="batch_fraction"):
        fl.StochasticGradientDescent(0.0, step_size=0.1, num_steps=5)
