"""Responses by Stein's lemma: taken where they are the better ones, left alone where paths are alike."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

import flowlimit as fl
from flowlimit.dmft.engine.state import Paths
from flowlimit.dmft.engine.stein import scaled_response

M, FEW, DELTA, SIZE, THRESHOLD = 4096, 256, 2.0, 0.3, 0.25
Z = np.random.default_rng(3).permutation(norm.ppf((np.arange(M) + 0.5) / M))  # even on all paths, random on the few
PATHS = Paths(
    normals=jnp.asarray(Z[None]),
    theta=jnp.zeros((1, M)),
    w_star=jnp.zeros(M),
    probability=jnp.full(M, 1 / M),
    few_probability=jnp.full(FEW, 1 / FEW),
    kicks=jnp.zeros((0, 1, M)),
)
SEEN = SIZE * Z
"""z/delta of one node."""


def scaled(weights, responses):
    """Rows of R_w, of one node, before and after."""
    R = -jnp.mean(responses[:FEW])[None, None] / DELTA
    covariance = jnp.full((1, 1), DELTA * SIZE**2)
    each, immediate = jnp.asarray(responses[:FEW])[None], jnp.ones((1, M))
    both, variance = (jnp.asarray(weights)[None], jnp.asarray(SEEN)[None]), jnp.full(1, SIZE**2)
    after = scaled_response(PATHS, R, covariance, each, immediate, *both, variance)
    return float(R[0, 0]), float(after[0, 0])


def test_the_share_of_active_paths_is_told_by_all_of_them():
    """A coordinate beyond a threshold responds, others do not: a share of few paths is random, E[w z] is not."""
    active = np.abs(SEEN) > THRESHOLD
    before, after = scaled(-np.sign(SEEN) * np.maximum(np.abs(SEEN) - THRESHOLD, 0.0), -1.0 * active)
    share = 2.0 * norm.sf(THRESHOLD / SIZE)
    spread = np.sqrt((1.0 - share) / share / FEW)
    assert 0.5 * spread < abs(before * DELTA / share - 1.0) < 4.0 * spread  # by chance, with this key
    # a part of the chance error stays, by the two errors' ratio to the fourth: .2 here
    assert after * DELTA == pytest.approx(share, rel=0.01 * spread + 2.0 / M)


def test_paths_that_are_alike_are_left_alone():
    """A linear flow: both ways agree, and rounding must not enter; nor where the lemma is the noisier one."""
    before, after = scaled(-0.7 * SEEN, np.full(M, -0.7))
    assert after == pytest.approx(before, rel=1e-12)
    nearly = -0.7 + 1e-3 * np.sin(7.0 * Z)
    before, after = scaled(-0.7 * SEEN + 0.1 * np.sin(40.0 * Z), nearly)
    assert after == pytest.approx(before, rel=1e-6)


def test_several_teachers():
    """Each one's target is a feature of the lemma's error: steps with several ended with an error."""
    loss = fl.CustomLoss(label=lambda f_star, n: f_star[0] * f_star[1], loss=lambda f, y: 0.5 * (f - y) ** 2)
    task = fl.GeneralizedLinear(2.0, target=fl.Independent(fl.Bernoulli(0.2), count=2), loss=loss)
    training = fl.GradientDescent(0.1, num_steps=3)
    model = fl.Reparametrized(lambda theta: theta, init=0.1)
    limit = fl.solve_dmft(model, task, training, rtol=0.3, throw=False, key=0)
    assert np.isfinite(limit.train_error).all()


def test_nothing_is_changed_to_what_is_no_number():
    """Before anything has happened all is 0; the derivative of a solve goes through here, too."""
    value, slope = jax.jvp(
        lambda x: scaled_response(
            PATHS, *(x * jnp.ones(shape) for shape in ((1, 1), (1, 1), (1, FEW), (1, M), (1, M), (1, M), (1,)))
        ),
        (jnp.zeros(()),),
        (jnp.ones(()),),
    )
    assert (np.asarray(value) == 0.0).all()
    assert np.isfinite(np.asarray(slope)).all()


@pytest.mark.slow
def test_late_curves_with_weight_decay_have_small_bars():
    """Their bars came from the share of active paths among the few: 2.4% of the training error with these paths."""
    model = fl.DiagonalLinear(1.0, weight_decay=0.03)
    task, training = fl.Regression(2.0, noise_var=0.01, target=fl.Bernoulli(0.1)), fl.GradientFlow(1000.0)
    solver = fl.PanelSolver(lowest_level=0, last_level=0, most_replicas=8, rest_factor=1e9)
    limit = fl.solve_dmft(model, task, training, rtol=0.05, key=1, save_at=[0.0, 1.0, 1000.0], solver=solver)
    end = fl.fixed_point(model, task)
    for name, value in (("train_error", float(end.train_error)), ("test_error", float(end.test_error))):
        curve = limit.curves[name]
        assert curve.stderr[-1] < 0.01 * value
        # errors come to their end like (decay t)^-2
        assert curve.value[-1] == pytest.approx(value, abs=4.0 * curve.stderr[-1] + value / 30.0**2)


@pytest.mark.slow
def test_late_steps_have_small_bars_with_few_response_paths():
    """With 16 of 512 paths for responses the last training error has a standard error of 1.0% without the lemma."""
    model = fl.DiagonalLinear(1.0, weight_decay=0.15)
    task, training = (
        fl.Regression(2.0, noise_var=0.01, target=fl.Bernoulli(0.1)),
        fl.GradientDescent(0.5, num_steps=200),
    )
    solver = fl.StepSolver(
        last_level=0, lowest_level=0, response_parts=(32,), first_look=4, replicas=4, most_replicas=4
    )
    limit = fl.solve_dmft(model, task, training, rtol=1e-3, key=1, save_at=[0.0, 100.0], solver=solver, throw=False)
    end = fl.fixed_point(model, task)
    for name, value in (("train_error", float(end.train_error)), ("test_error", float(end.test_error))):
        curve = limit.curves[name]
        assert limit.statistical[name][-1] < 0.004 * value
        # errors come to their end like (decay t)^-2
        assert curve.value[-1] == pytest.approx(value, abs=4.0 * curve.stderr[-1] + value / 15.0**2)
