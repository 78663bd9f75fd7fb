"""Gradient descent on panels that sum: against its exact sum on the spectrum, and against steps one by one."""

import jax
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.dmft import SolverRequest, default_solver
from flowlimit.dmft.control.span import span_of
from flowlimit.dmft.readout.ruler import ruler_of
from flowlimit.numerics.marchenko_pastur import marchenko_pastur

RATIO, NOISE = 2.0, 0.1
TASK = fl.Regression(RATIO, noise_var=NOISE, target=fl.Normal())
LARGEST = (1.0 + RATIO**-0.5) ** 2
"""The largest eigenvalue of X^T X / delta."""
NETWORK = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))


def spectrum_sum(step_size, steps, momentum=0.0):
    """Test errors of `Linear` from 0: each eigenvalue's mode of w - w* and of the noise, by its own recursion."""
    s, mass = marchenko_pastur(RATIO, 4000)
    # both recursions as powers of one matrix for (w, v) of each eigenvalue: error e and noise u with w' = w - step s w
    matrix = np.zeros((len(s), 2, 2))
    matrix[:, 0, 0], matrix[:, 0, 1] = 1.0 - step_size * s, step_size * momentum
    matrix[:, 1, 0], matrix[:, 1, 1] = -s, momentum
    kept = np.stack([np.linalg.matrix_power(matrix, int(k))[:, 0, 0] for k in steps])
    return kept**2 @ mass + NOISE * (1.0 - kept) ** 2 @ (mass / np.where(s > 0.0, s, 1.0)) / RATIO + NOISE


def solve(training, steps, **options):
    return fl.solve_dmft(fl.Linear(), TASK, training, save_at=training.clock.times_at(steps), **options)


def scheduled_sum(training, steps, decay):
    """The same step by step, with sizes and factors on the weight decay of a training."""
    s, mass = marchenko_pastur(RATIO, 4000)
    sizes, factors = (np.broadcast_to(x, training.num_steps) for x in (training.step_size, training.decay_factor))
    pull = np.stack([s, np.ones_like(s)])  # towards w*, and by the noise
    w = v = np.zeros_like(pull)
    errors = []
    for size, factor in zip(np.r_[sizes, 0.0], np.r_[factors, 0.0], strict=True):
        errors.append((1.0 - w[0]) ** 2 @ mass + NOISE * w[1] ** 2 @ (s * mass) / RATIO + NOISE)
        v = float(training.momentum) * v + pull - (s + factor * decay) * w
        w = w + size * v
    return np.array(errors)[steps.astype(int)]


def cosine(i):
    return 0.5 * (1.0 + np.cos(np.pi * i / 160.0)) + 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    "schedules", [{"step_size": lambda i: 0.2 * cosine(i), "momentum": 0.5}, {"step_size": 0.2, "decay_factor": cosine}]
)
def test_smooth_schedules(schedules):
    """Exact on both sides, as moments are matched; fewer nodes than steps."""
    training = fl.GradientDescent(**{"decay_factor": 1.0} | schedules, num_steps=160)
    steps, model = np.arange(0.0, 161.0, 8.0), fl.Linear(weight_decay=0.3)
    times, solver = training.clock.times_at(steps), fl.PanelSolver()
    limit = fl.solve_dmft(model, TASK, training, save_at=times, rtol=1e-4, solver=solver)
    assert limit.stats.nodes <= 128
    assert limit.test_error == pytest.approx(scheduled_sum(training, steps, 0.3), rel=1e-6)
    assert (limit.stats.edges or (0.0,))[-1] >= limit.times[-1]


def test_linear_against_its_sum_on_the_spectrum():
    """500 steps of 1.7 over the largest eigenvalue: the fastest mode alternates for 60 steps."""
    step_size, steps = 1.7 / LARGEST, np.unique(np.rint(np.r_[0.0, np.geomspace(1.0, 500.0, 50)]))
    limit = solve(fl.GradientDescent(step_size, num_steps=500), steps, rtol=1e-5)
    assert limit.stats.nodes < 250
    assert limit.discrete
    assert np.abs(limit.test_error / spectrum_sum(step_size, steps) - 1.0).max() < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum(nesterov):
    """Exact on both sides, as moments are matched: against the sum, or, with Nesterov's, against steps one by one."""
    training = fl.GradientDescent(0.05, num_steps=64, momentum=0.9, nesterov=nesterov)
    steps = np.arange(0.0, 65.0, 8.0)
    limit = solve(training, steps, rtol=1e-4, solver=fl.PanelSolver())
    if nesterov:
        stepped = solve(training, steps, rtol=1e-4, solver=fl.StepSolver())
        for name in ("train_error", "test_error"):
            assert limit[name].value == pytest.approx(stepped[name].value, rel=1e-6)
    else:
        assert limit.test_error == pytest.approx(spectrum_sum(0.05, steps, 0.9), rel=1e-6)


@pytest.mark.slow
def test_network_against_steps_one_by_one():
    """Other paths on both sides: 4 combined standard errors. Steps of 1 alternate; time 0 is exact."""
    model, training = fl.DiagonalLinear(0.3, weight_decay=0.01), fl.GradientDescent(1.0, num_steps=60)
    find = lambda solver, key: fl.solve_dmft(model, NETWORK, training, rtol=0.25, solver=solver, key=key, throw=False)
    summed, stepped = find(fl.PanelSolver(), 1), find(fl.StepSolver(), 2)
    assert summed.times == pytest.approx(stepped.times)
    for name in ("train_error", "test_error", "norm_2", "loss"):
        ours, theirs = summed[name], stepped[name]
        apart = np.abs(ours.value - theirs.value)[1:]
        assert (apart / np.hypot(ours.stderr, theirs.stderr)[1:]).max() < 4.0
        assert ours.value[0] == pytest.approx(theirs.value[0], rel=1e-12, abs=1e-15)


@pytest.mark.slow
def test_derivative_by_the_step_size():
    """Against a difference of two exact sums on the spectrum; and the limit against the sum itself."""
    steps, size, shift = np.array([0.0, 10.0, 100.0]), 0.1, 1e-4
    limit = solve(fl.GradientDescent(size, num_steps=100), steps, rtol=1e-5, solver=fl.PanelSolver())
    assert np.abs(limit.test_error / spectrum_sum(size, steps) - 1.0).max() < 1e-8
    difference = (spectrum_sum(size + shift, steps) - spectrum_sum(size - shift, steps)) / (2.0 * shift)
    assert fl.derivative(limit, "training.step_size").test_error == pytest.approx(difference, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(
    ("training", "solver"),
    [
        (fl.GradientFlow(10.0), fl.PanelSolver),
        (fl.GradientDescent(0.1, num_steps=100), fl.StepSolver),
        (fl.GradientDescent(0.1, num_steps=1000), fl.PanelSolver),
        (fl.GradientDescent(0.1, num_steps=1000, momentum=0.9, nesterov=True), fl.PanelSolver),
        (fl.GradientDescent(lambda i: 0.1 / (1 + i), num_steps=1000), fl.PanelSolver),
        (fl.GradientDescent(lambda i: 0.1 * (1 + i % 2), num_steps=1000), fl.StepSolver),
        (fl.GradientDescent(0.1, num_steps=1000, decay_factor=lambda i: float(i < 9)), fl.PanelSolver),
        (fl.GradientDescent(0.1, num_steps=1000, decay_factor=np.tile([0.0, 0.2], 500)), fl.StepSolver),
        (fl.StochasticGradientDescent(0.1, step_size=0.1, num_steps=1000), fl.StepSolver),
        (fl.Langevin(0.1, step_size=0.1, num_steps=1000), fl.StepSolver),
    ],
)
def test_who_solves_what(training, solver):
    ask = lambda task: SolverRequest(model=fl.Linear(), task=task, training=training, rtol=0.1, key=jax.random.key(0))
    assert type(default_solver(ask(TASK))) is solver
    if training.clock.in_steps:
        assert type(default_solver(ask(fl.Classification(2.0, target=fl.Normal())))) is fl.StepSolver


def test_panels_cover_every_step():
    """A multiple of the order each, the last one perhaps beyond the end; halves of them, down to the order."""
    clock = fl.GradientDescent(0.1, num_steps=1000).clock
    span = span_of(clock, 8, ruler_of(clock, 8))
    assert (span.begin, span.shortest) == pytest.approx((-0.05, 0.8))
    assert span.end == pytest.approx(0.1 * 1008 - 0.05)  # 1001 steps and the move after the last
    assert span.whole(0.3) == pytest.approx(0.8)
    assert span.whole(2.5) == pytest.approx(2.4)
    assert span.half(2.4) == pytest.approx(0.8)
    assert span.half(0.8) is None
    none = np.zeros(1)
    assert span.next_edge(span.begin, 0.8, none) == pytest.approx(0.75)
    assert span.next_edge(span.begin, 1e3, none) == span.end
    assert span.next_edge(span.begin, 0.8, np.array([-0.05, 2.35])) == pytest.approx(2.35)
