"""Balanced and independent draws of `simulate`: what they hold fixed, what stays random, and what they are called."""

import numpy as np
import pytest

import flowlimit as fl

TASK = fl.Regression(0.5, noise_var=0.5, target=fl.Bernoulli(0.1))
STEPS = fl.GradientDescent(0.2, num_steps=30)


def test_composition_is_exact_and_places_differ():
    runs = fl.simulate(fl.DiagonalLinear(0.3), TASK, STEPS, dim=200, trials=3, key=0, weights_at=[0.0])
    assert (runs.w_star.sum(axis=1) == 20.0).all()
    assert not (runs.w_star[0] == runs.w_star[1]).all()
    assert runs.stats.draws == runs.provenance["problem"]["draws"] == "balanced"
    assert "dim 200, balanced draws" in repr(runs)


def test_less_scatter_same_mean():
    """The variance of the test error over 60 trials, summed over time, falls by half at least; at time 0 it is gone.

    A ratio of such variances has a standard error of 26%, and 0.27 is found. Means agree within 4.5 standard errors.
    """
    balanced, plain = (
        fl.simulate(fl.DiagonalLinear(0.3), TASK, STEPS, dim=300, trials=60, key=1, draws=draws)
        for draws in ("balanced", "independent")
    )
    variance = [one.values["test_error"].var(axis=0) for one in (balanced, plain)]
    assert variance[0].sum() < 0.5 * variance[1].sum()
    assert variance[0][0] < 1e-25 < variance[1][0]
    assert (np.abs(balanced.test_error - plain.test_error) < 4.5 * plain.test_error_stderr + 1e-12).all()


def test_random_scales_have_their_composition():
    model = fl.DiagonalLinear(fl.Empirical([0.2, 0.8]))
    observables = {"scale": lambda w, w_star: w**2}
    runs = fl.simulate(model, TASK, STEPS, dim=200, trials=4, key=0, observables=observables)
    assert runs.values["scale"][:, 0] == pytest.approx(runs.values["scale"][0, 0])


def test_drawn_data_are_those_of_a_trial():
    for draws in ("balanced", "independent"):
        data = fl.draw(TASK, dim=80, key=5, trial=1, draws=draws)
        runs = fl.simulate(fl.Linear(), TASK, STEPS, dim=80, trials=2, key=5, draws=draws)
        alone = fl.simulate(fl.Linear(), data, STEPS)
        assert alone.train_error == pytest.approx(runs.values["train_error"][1], rel=1e-9)


@pytest.mark.parametrize("verb", [fl.simulate, fl.check])
def test_other_words_are_refused(verb):
    with pytest.raises(ValueError, match="draws: given 'fair', needs 'balanced' or 'independent'"):
        verb(fl.Linear(), TASK, STEPS, draws="fair", **({"dim": 20} if verb is fl.simulate else {}))
