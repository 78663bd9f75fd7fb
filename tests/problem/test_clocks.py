"""Time in steps and what steps add: times are sums of sizes, noise has its variance, momentum is as defined."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.problem.clocks import ContinuousClock, StepClock, StepNoise
from flowlimit.problem.momentum import Momentum, ScheduledDecay
from flowlimit.problem.requests import positions_of

SIZES = np.array([0.3, 0.1, 0.2, 0.05])
UNEVEN, EVEN = StepClock(jnp.asarray(SIZES), 4), StepClock(jnp.asarray(0.1), 4)


@pytest.mark.parametrize(("clock", "sizes"), [(UNEVEN, SIZES), (EVEN, np.full(4, 0.1))], ids=["uneven", "even"])
def test_times_are_sums_of_sizes(clock, sizes):
    """Step i begins at the sum of the sizes before it; the move after the last measurement repeats the last size."""
    times = np.r_[0.0, np.cumsum(sizes)]
    assert clock.times() == pytest.approx(times)
    assert np.asarray(clock.sizes()) == pytest.approx(np.r_[sizes, sizes[-1]])
    for i, t in enumerate(times):
        assert float(clock.time(jnp.array(i))) == pytest.approx(t)
        assert float(clock.schedule(jnp.arange(4.0)).at(jnp.asarray(t))) == pytest.approx(min(i, 3), abs=1e-12)
        assert float(clock.size(jnp.array(i))) == pytest.approx(np.r_[sizes, sizes[-1]][i])


def test_all_steps_are_saved_and_found_again():
    assert positions_of("save_at", None, UNEVEN).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert positions_of("save_at", UNEVEN.times_at(np.array([1.0, 3.0])), UNEVEN).tolist() == [1.0, 3.0]
    grid = positions_of("save_at", None, ContinuousClock(jnp.asarray(50.0)))
    assert (grid[0], grid[-1]) == (0.0, pytest.approx(50.0))
    assert np.diff(np.log(grid[1:])) == pytest.approx(np.log(1e4) / (len(grid) - 2))


@pytest.mark.parametrize(("fraction", "label_std"), [(0.25, None), (0.25, 0.4), (None, 0.4)])
def test_variance_of_noisy_residuals(fraction, label_std):
    """Of m (e + n) around its mean e, in closed form: E[m^2] = 1/fraction for a mask m of mean 1, n fresh."""
    noise = StepNoise(*(None if x is None else jnp.asarray(x) for x in (fraction, label_std)))
    square, of_labels, error = 1.0 / (fraction or 1.0), (label_std or 0.0) ** 2, 0.7
    exact = square * (error + of_labels) - error
    assert float(noise.residual_variance(jnp.asarray(error))) == pytest.approx(exact)


def test_a_kept_batch_adds_no_variance_between_steps():
    noise = StepNoise(jnp.asarray(0.25), jnp.asarray(0.4), persistent=True)
    assert float(noise.residual_variance(jnp.asarray(0.7))) == pytest.approx(0.16)
    assert float(noise.kept_fraction) == 0.25


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_moves_as_defined(nesterov):
    """v' = beta v + p, then theta moves by v', or by p + beta v'; with steps of different sizes."""
    beta, model = 0.8, fl.DiagonalLinear(0.5, weight_decay=0.2)
    moving = Momentum(model, jnp.asarray(beta), UNEVEN.schedule(UNEVEN.step_size), nesterov, (2,))
    both, drift = moving.init(jnp.zeros(0), jnp.zeros(())), jax.jit(lambda t, both, g: moving.drift(t, both, g))
    theta, v = np.array([0.5, 0.5]), np.zeros(2)
    for i, size in enumerate(SIZES):
        t = UNEVEN.time(jnp.array(i))
        assert float(moving.weight(t, both)) == pytest.approx((theta[0] ** 2 - theta[1] ** 2) / 2, rel=1e-12)
        both = both + size * drift(t, both, jnp.array(-1.3))
        p = np.array([-0.5 * (theta[0] * -1.3 + 0.2 * theta[0]), -0.5 * (theta[1] * 1.3 + 0.2 * theta[1])])
        v = beta * v + p
        theta = theta + size * (p + beta * v if nesterov else v)
        assert np.asarray(both) == pytest.approx(np.r_[theta, v], rel=1e-12)


def test_scheduled_decay_is_that_of_its_step():
    factors = jnp.array([1.0, 0.5, 0.25, 0.0])
    model = ScheduledDecay(fl.Linear(weight_decay=0.4), UNEVEN.schedule(factors))
    theta, none = jnp.array(2.0), jnp.zeros(())
    for i, factor in enumerate(np.asarray(factors)):
        t = UNEVEN.time(jnp.array(i))
        assert float(model.drift(t, theta, none)) == pytest.approx(-0.4 * factor * 2.0)
        assert float(model.penalty(t, theta)) == pytest.approx(0.5 * 0.4 * factor * 4.0)


@pytest.mark.parametrize(
    ("model", "rate"),
    [
        (fl.Linear(weight_decay=0.3), 1.0),
        (fl.DiagonalLinear(0.5, weight_decay=0.3), 0.5),
        (fl.DiagonalLinear(0.5, weight_decay=0.3, depth=3), 0.5),
        (fl.Reparametrized(lambda x: x[0] * x[1], init=[0.5, 0.7], weight_decay=0.3, rate=2.0), 2.0),
    ],
    ids=["linear", "network", "depth 3", "own"],
)
def test_decay_is_the_gradient_of_the_penalty(model, rate):
    """Without a gradient of the loss the drift is -rate times that of the regulariser that is added to it."""
    shape = model.init(jnp.zeros(model.num_normals), jnp.zeros(())).shape
    theta = jnp.full(shape, 0.9) if not shape else jnp.linspace(0.4, 1.1, shape[0])
    drift = model.drift(jnp.zeros(()), theta, jnp.zeros(()))
    assert np.asarray(drift) == pytest.approx(
        np.asarray(-rate * jax.grad(model.penalty, argnums=1)(jnp.zeros(()), theta))
    )
