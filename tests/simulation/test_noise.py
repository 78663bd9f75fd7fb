"""The noise of steps and of labels at finite size has the law that the limit supposes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.problem.clocks import StepNoise
from flowlimit.simulation.data import draw_trial
from flowlimit.simulation.noise import kick, masked, seen_noise, step_keys

COUNT = 20_000


def keys(step):
    return step_keys(jax.random.key(0), jnp.array(step))


def test_masks_keep_the_mean():
    """Residuals of a batch are divided by its share: two values, each with its frequency (5 binomial deviations)."""
    noise, residual = StepNoise(jnp.asarray(0.25)), jnp.full(COUNT, 1.5)
    first, second = (np.asarray(masked(noise, residual, keys(step))) for step in (0, 1))
    assert set(np.unique(first)) == {0.0, 6.0}
    assert abs((first > 0.0).mean() - 0.25) < 5.0 * np.sqrt(0.25 * 0.75 / COUNT)
    assert abs(((first > 0.0) & (second > 0.0)).mean() - 0.25**2) < 5.0 * np.sqrt(0.0625 / COUNT)  # independent


def test_a_kept_batch_is_the_same_at_every_step():
    noise, residual = StepNoise(jnp.asarray(0.25), persistent=True), jnp.ones(200)
    first, second = (masked(noise, residual, keys(step)) for step in (0, 7))
    assert (first == second).all()
    assert set(np.unique(np.asarray(first))) == {0.0, 4.0}


def test_fresh_labels_and_kicks_have_their_variance():
    """Standard deviations 0.3 and sqrt(2 temperature step_size), within 5 standard errors, 1/sqrt(2 count) of them."""
    labels = jnp.ones(COUNT)
    fresh = np.asarray(seen_noise(StepNoise(label_std=jnp.asarray(0.3)), labels, keys(0)) - labels)
    assert fresh.std() == pytest.approx(0.3, rel=5.0 / np.sqrt(2 * COUNT))
    noise = StepNoise(temperature=jnp.asarray(0.05))
    kicks = [np.asarray(kick(noise, jnp.asarray(0.2), jnp.zeros(COUNT), keys(step))) for step in (0, 1)]
    assert kicks[0].std() == pytest.approx(np.sqrt(2 * 0.05 * 0.2), rel=5.0 / np.sqrt(2 * COUNT))
    assert abs(np.corrcoef(kicks)[0, 1]) < 5.0 / np.sqrt(COUNT)


def test_label_noise_has_the_tasks_variance():
    """y = X w* + xi with xi of variance noise_var, within 5 standard errors; other draws of xi in other trials."""
    task = fl.Regression(200.0, noise_var=0.3, target=fl.Bernoulli(0.5))
    drawn = [draw_trial(task, 4000, 20, jax.random.key(0), jnp.array(trial)) for trial in (0, 1)]
    noise = [np.asarray(part.noise) for part in drawn]
    assert (noise[0] ** 2).mean() == pytest.approx(0.3, rel=5.0 * np.sqrt(2.0 / 4000))
    assert abs(np.corrcoef(noise)[0, 1]) < 5.0 / np.sqrt(4000)
    np.testing.assert_allclose(drawn[0].f_star, np.asarray(drawn[0].X) @ np.asarray(drawn[0].w_star), atol=1e-12)


def test_steps_follow_their_schedule(dataset):
    """Step sizes and factors of the weight decay that change with every step, against a plain loop."""
    X, y, sizes, factors = (
        *map(np.asarray, (dataset.X, dataset.y)),
        np.array([0.3, 0.1, 0.2]),
        np.array([1.0, 0.0, 2.0]),
    )
    training = fl.GradientDescent(sizes, num_steps=3, decay_factor=factors)
    runs = fl.simulate(fl.Linear(weight_decay=0.4), dataset, training)
    w, errors = np.zeros(X.shape[1]), []
    for size, factor in zip([*sizes, 0.0], [*factors, 0.0], strict=True):
        errors.append(((X @ w - y) ** 2).mean())
        w = w - size * (X.T @ (X @ w - y) * (X.shape[1] / X.shape[0]) + 0.4 * factor * w)
    assert runs.train_error == pytest.approx(np.array(errors), rel=1e-12)
    assert runs.times == pytest.approx([0.0, 0.3, 0.4, 0.6])
