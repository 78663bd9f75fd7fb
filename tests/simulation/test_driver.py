"""Keys, trials, groups, progress, divergence, traces."""

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl

TRAININGS = [fl.GradientDescent(0.1, num_steps=30), fl.GradientFlow(3.0)]


@pytest.mark.slow
@pytest.mark.parametrize("training", TRAININGS, ids=repr)
def test_same_key_same_bits(training, task):
    a, b = (fl.simulate(fl.DiagonalLinear(0.3), task, training, dim=80, trials=3, key=5) for _ in range(2))
    c = fl.simulate(fl.DiagonalLinear(0.3), task, training, dim=80, trials=3, key=jax.random.key(5))
    d = fl.simulate(fl.DiagonalLinear(0.3), task, training, dim=80, trials=3, key=6)
    for name in a.values:
        assert (a.values[name] == b.values[name]).all()
        assert (a.values[name] == c.values[name]).all()
    assert (a.train_error != d.train_error).all()


@pytest.mark.slow
@pytest.mark.parametrize("training", TRAININGS, ids=repr)
def test_trials_do_not_depend_on_their_number(training, task):
    model = fl.Linear(init_scale=0.3)
    few, many = (fl.simulate(model, task, training, dim=80, trials=n, key=1) for n in (2, 5))
    for name in few.values:
        assert (few.values[name] == many.values[name][:2]).all()
    assert len(np.unique(many.values["train_error"][:, 0])) == 5


@pytest.mark.slow
def test_models_share_their_data_and_keep_their_order(task):
    models = [
        fl.DiagonalLinear(0.3),
        fl.Linear(),
        fl.DiagonalLinear(0.6),
        fl.DiagonalLinear(0.3, depth=3),
        fl.DiagonalLinear(fl.Empirical([0.3, 0.3])),
    ]
    together = fl.simulate(models, task, fl.GradientDescent(0.1, num_steps=20), dim=80, trials=2)
    for model, runs in zip(models, together, strict=True):
        alone = fl.simulate(model, task, fl.GradientDescent(0.1, num_steps=20), dim=80, trials=2)
        assert np.allclose(runs.train_error, alone.train_error, rtol=1e-13)
        assert runs.provenance["problem"]["model"] == model.to_dict()
    assert np.allclose(together[0].train_error, together[4].train_error, rtol=1e-12)
    assert len({runs.train_error[0] for runs in together}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("training", TRAININGS, ids=repr)
def test_one_compilation_serves_all_numbers(training, task, traced):
    """Twenty values of every numeric field: after the first call nothing is traced or compiled."""

    def problems():
        for i in range(20):
            x = 0.2 + 0.01 * i
            model = fl.DiagonalLinear(init_scale=x, weight_decay=x / 10)
            drawn = fl.Regression(0.5, noise_var=x / 9, target=fl.Bernoulli(x, value=1.0 + x))
            steps = fl.GradientDescent(step_size=x / 5, num_steps=20 + i)
            yield model, drawn, steps if isinstance(training, fl.GradientDescent) else fl.GradientFlow(3.0 + x)

    runs = iter(problems())
    fl.simulate(*next(runs), dim=40, trials=1)
    assert not traced(lambda: [fl.simulate(*problem, dim=40, trials=1) for problem in runs])


def test_progress_can_stop_between_trials(task):
    seen = []

    def progress(fraction, message):
        seen.append((fraction, message))
        return fraction > 0.45

    runs = fl.simulate(fl.DiagonalLinear(0.3), task, TRAININGS[0], dim=50, trials=5, progress=progress)
    whole = fl.simulate(fl.DiagonalLinear(0.3), task, TRAININGS[0], dim=50, trials=5)
    assert runs.result.code is fl.Code.STOPPED
    assert "3 of 5 trials" in runs.result.message
    assert (runs.values["train_error"] == whole.values["train_error"][:3]).all()
    assert [f for f, _ in seen] == sorted(f for f, _ in seen)
    assert "trial 1 of 5" in seen[0][1]


def test_progress_can_stop_within_the_first_trial(task):
    training = fl.GradientDescent(0.1, num_steps=3000)
    runs = fl.simulate(
        [fl.DiagonalLinear(0.3), fl.Linear()], task, training, dim=20, trials=2, progress=lambda *_: True
    )
    assert runs[0].result.code is fl.Code.STOPPED
    assert 0 < len(runs[0].times) < 3001
    assert np.isfinite(runs[0].train_error).all()
    assert len(runs[1].times) == 0
    assert "0 of 2 trials" in repr(runs[1])


def test_a_bar(task, capsys):
    fl.simulate(fl.Linear(), task, TRAININGS[0], dim=20, trials=2, progress=True)
    printed = capsys.readouterr()
    assert "simulate" in printed.err
    assert printed.out == ""


def test_a_stop_that_comes_too_late_is_none(task):
    runs = fl.simulate(fl.Linear(), task, TRAININGS[0], dim=20, trials=2, progress=lambda f, _: np.bool_(f == 1.0))
    assert runs.result == fl.Outcome()


def test_a_failure_outranks_a_stop(task):
    options = {"dim": 60, "trials": 3, "progress": lambda f, _: f > 0.3}
    runs = fl.simulate(fl.DiagonalLinear(3.0), task, fl.GradientDescent(0.1, num_steps=200), throw=False, **options)
    assert runs.result.code is fl.Code.DIVERGED


def test_weights_line_up_with_trials_when_some_diverge(task, tmp_path):
    training = fl.GradientDescent(0.1, num_steps=400)
    options = {"dim": 30, "trials": 8, "weights_at": [40.0], "save_at": [0.0, 40.0], "throw": False}
    runs = fl.simulate(fl.DiagonalLinear(2.6), task, training, **options)
    lost = ~np.isfinite(runs.values["train_error"][:, -1])
    assert 0 < lost.sum() < 8
    assert runs.weights.shape == (8, 1, 30)
    assert (np.isfinite(runs.weights).all(axis=(1, 2)) == ~lost).all()
    fl.save(runs, tmp_path / "some.zarr")


@pytest.mark.slow
def test_fixed_starts_on_fixed_data_have_no_spread(dataset):
    """One trial, error unknown, also beside a model whose starts are random."""
    training = fl.GradientDescent(0.1, num_steps=3)
    assert fl.simulate(fl.Linear(), dataset, training).trials == 1
    fixed, random = fl.simulate([fl.DiagonalLinear(0.3), fl.Linear(init_scale=1.0)], dataset, training)
    assert (fixed.trials, random.trials) == (1, 10)
    assert np.isnan(fixed.train_error_stderr).all()
    assert (random.train_error_stderr > 0.0).all()


def test_functions_without_a_name(dataset):
    from functools import partial

    model = fl.Reparametrized(partial(jnp.multiply, 2.0), init=0.1)
    runs = fl.simulate(model, dataset, fl.GradientDescent(0.1, num_steps=2))
    assert "partial" in runs.provenance["problem"]["model"]["weight"]["function"]


@pytest.mark.slow
def test_divergence_is_told(task):
    """Descent at step .1 is unstable at init scale 3, where the flow is the answer."""
    models = [fl.DiagonalLinear(0.3), fl.DiagonalLinear(3.0)]
    training = fl.GradientDescent(0.1, num_steps=200)
    with pytest.raises(
        fl.FlowlimitError, match=r"init_scale=3\) in 2 of 2 trials .* smaller step_size, or GradientFlow"
    ):
        fl.simulate(models, task, training, dim=100, trials=2)
    calm, wild = fl.simulate(models, task, training, dim=100, trials=2, throw=False)
    assert calm.result == fl.Outcome()
    assert wild.result.code is fl.Code.DIVERGED
    assert len(wild.times) == len(calm.times)
    assert np.isfinite(calm.train_error).all()
    flow = fl.simulate(models[1], task, fl.GradientFlow(20.0), dim=100, trials=2)
    assert flow.train_error[-1] < 1e-6


@pytest.mark.slow
def test_step_limit_is_told(task, monkeypatch):
    from flowlimit.simulation import flows

    monkeypatch.setattr(flows, "MAX_STEPS", 3)  # read when a program is traced: no other test has this dim
    runs = fl.simulate(fl.DiagonalLinear(0.31), task, fl.GradientFlow(100.0), dim=29, trials=1, throw=False, rtol=1e-9)
    assert runs.result.code is fl.Code.STEP_LIMIT
    words = "DiagonalLinear(init_scale=0.31) in 1 of 1 trials needed more than 3 steps by time"
    assert words in runs.result.message


class Unwilling(diffrax.Tsit5):
    """Gives up as a solver does whose Newton iteration diverges, in trials of one sign of the first weight."""

    def step(self, terms, t0, t1, y0, args, solver_state, made_jump):
        y1, error, dense, state, _ = super().step(terms, t0, t1, y0, args, solver_state, made_jump)
        bad, good = diffrax.RESULTS.nonlinear_divergence, diffrax.RESULTS.successful
        return y1, error, dense, state, diffrax.RESULTS.where(y1.reshape(-1)[0] > 0.0, bad, good)


@pytest.mark.slow
def test_a_solver_that_gives_up_is_told_in_its_own_words(task):
    """Each trial has a code of its own: some succeed, others fail."""
    options = {"dim": 20, "trials": 6, "solver": Unwilling(), "rtol": 1e-3, "throw": False}
    runs = fl.simulate(fl.DiagonalLinear(0.3), task, fl.GradientFlow(0.1), **options)
    assert runs.result.code is fl.Code.FAILED
    failed = int(runs.result.message.split(" in ")[1].split()[0])
    assert 0 < failed < 6
    assert "was given up by Unwilling (Nonlinear solve diverged" in runs.result.message


@pytest.mark.slow
def test_a_flow_that_ceases_to_be_finite_has_diverged():
    """Weights that grow beyond the largest number; the solver would try ever shorter steps, a million of them."""
    loss = fl.CustomLoss(label=lambda f_star, n: f_star, loss=lambda f, y: -((f + y) ** 2))
    task = fl.GeneralizedLinear(2.0, target=fl.PointMass(1.0), loss=loss)
    runs = fl.simulate(fl.Linear(), task, fl.GradientFlow(400.0), dim=20, trials=2, rtol=1e-2, throw=False)
    assert runs.result.code is fl.Code.DIVERGED
    assert "Linear() in 2 of 2 trials ceased to be finite by time" in runs.result.message
    assert runs.stats.steps < 10_000


def test_a_matrix_of_ones_own():
    matrix = np.random.default_rng(0).normal(size=(30, 50)) / np.sqrt(50)
    task = fl.Regression(0.6, noise_var=0.01, target=fl.Bernoulli(0.2), design=fl.MatrixDesign(matrix))
    runs = fl.simulate(fl.DiagonalLinear(0.3), task, fl.GradientDescent(0.1, num_steps=10), trials=3, weights_at=[1.0])
    assert runs.provenance["problem"]["samples"] == 30
    # At w = 0 the test error is |w*|^2/d + noise_var, trial by trial.
    assert runs.values["test_error"][:, 0] == pytest.approx((runs.w_star**2).mean(axis=1) + 0.01, rel=1e-12)
    with pytest.raises(ValueError, match=r"matrix is 30 x 50; needs aspect_ratio=0\.6"):
        fl.Regression(2.0, noise_var=0.01, target=fl.Bernoulli(0.2), design=fl.MatrixDesign(matrix))


REFUSALS = [
    ({"dim": None}, "dim: given None, needs an int of at least 1"),
    ({"dim": 2.5}, "dim: given 2.5"),
    ({"trials": 0}, "trials: given 0"),
    ({"save_at": []}, "save_at: given"),
    ({"save_at": [0.0, 0.05]}, "save_at: given 0.05, between steps; needs multiples of the step size 0.1"),
    ({"save_at": [1.0, 0.5]}, "needs ascending times from 0 to 3"),
    ({"save_at": [0.0, 9.0]}, "needs ascending times from 0 to 3"),
    ({"save_at": [0.0], "weights_at": [1.0]}, "weights_at: given 1, which save_at does not have"),
    ({"rtol": 1.0}, "rtol: given 1.0"),
    ({"devices": []}, "devices: given none"),
    ({"observables": {"loss": abs}}, "observables: given 'loss'.*needs a name other than train_error"),
    ({"observables": {"x": 3}}, "observables: given 'x': 3"),
    ({"observables": {"time": abs}}, "observables: given 'time'"),
    ({"solver": "tsit5"}, "solver: given 'tsit5', needs an adaptive diffrax solver"),
]


@pytest.mark.parametrize(("options", "message"), REFUSALS)
def test_refusals(options, message, task):
    from flowlimit.simulation.plan import make_plan

    defaults = {
        "dim": 20,
        "trials": 1,
        "key": 0,
        "save_at": None,
        "weights_at": None,
        "observables": None,
        "rtol": 1e-6,
        "solver": None,
        "devices": None,
    }
    with pytest.raises((ValueError, TypeError), match=message):
        make_plan([fl.Linear()], task, TRAININGS[0], **(defaults | options))


def test_refusals_of_nouns(task, dataset):
    with pytest.raises(TypeError, match=r"model: given 0\.3, needs a model"):
        fl.simulate(0.3, task, TRAININGS[0], dim=10)
    bare = fl.Dataset(dataset.X, dataset.y)
    with pytest.raises(ValueError, match="whose start depends on the target"):
        fl.simulate(fl.Linear(init_overlap=0.5), bare, TRAININGS[0])
    with pytest.raises(ValueError, match="'overlap', which uses w_star"):
        fl.simulate(fl.Linear(), bare, TRAININGS[0], observables={"overlap": lambda w, w_star: w * w_star})
    with pytest.raises(ValueError, match=r"values of shape \(2,\) per coordinate, needs one number"):
        fl.simulate(fl.Linear(), bare, TRAININGS[0], observables={"two": lambda w, w_star: np.array([1.0, 2.0]) * w})
    with pytest.raises(ValueError, match="model: given an empty list"):
        fl.simulate([], task, TRAININGS[0], dim=10)
    with pytest.raises(ValueError, match="data and starts are fixed"):
        fl.simulate(fl.DiagonalLinear(0.3), dataset, TRAININGS[0], trials=3)
    with pytest.raises(ValueError, match="dim: given 7, but the matrix has 60 columns"):
        fl.simulate(fl.DiagonalLinear(0.3), dataset, TRAININGS[0], dim=7)
    with pytest.raises(ValueError, match="needs a Dataset of that dim; for random numbers give their law"):
        fl.simulate(fl.DiagonalLinear([0.1, 0.2]), task, TRAININGS[0], dim=2)
