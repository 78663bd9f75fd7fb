"""A design that the limit does not read is refused by every verb that has a limit."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.problem.limits import refuse_without_limit

MODEL = fl.DiagonalLinear(0.3)
STEPS = fl.GradientDescent(0.1, num_steps=3)
TASK = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
MATRIX = TASK.replaced(design=fl.MatrixDesign(np.diag(np.arange(1.0, 5.0))[:2] / 2.0))
NONE = {"train_error": np.zeros((0, 0))}
EMPTY = fl.Limit(np.zeros(0), NONE, True, model=fl.Linear(), training=STEPS)
REFUSED = r"design: given .*independent entries.*leave design= out.*fl\.simulate"


class Spiked(fl.Design):
    """A design of one's own that says nothing of a limit."""

    def sample(self, key, samples, dim):
        return jax.random.normal(key, (samples, dim)) / jnp.sqrt(dim) * jnp.linspace(0.1, 2.0, dim)[None]


class Plain(Spiked):
    """One that says it has the limit of Gaussian data."""

    @property
    def has_limit(self):
        return True


@pytest.mark.parametrize("task", [MATRIX, TASK.replaced(design=Spiked())], ids=["matrix", "own"])
@pytest.mark.parametrize(
    "verb",
    [
        lambda task: fl.solve_dmft(MODEL, task, STEPS),
        lambda task: fl.check(MODEL, task, STEPS, dims=(4,)),
        lambda task: fl.conform(MODEL, task, STEPS, dim=4),
        lambda task: fl.derivative(dataclasses.replace(EMPTY, task=task), "task.noise_var"),
        lambda task: fl.fixed_point(MODEL, task),
        lambda task: fl.convergence_rate(MODEL, task),
        lambda task: fl.timescales(MODEL, task),
        lambda task: fl.small_init_path(MODEL, task, 10.0),
        lambda task: fl.state_evolution(MODEL, task),
        lambda task: fl.label_phases(dataclasses.replace(EMPTY, model=MODEL, task=task)),
    ],
    ids=lambda verb: next(name for name in verb.__code__.co_names if name in fl.__all__),
)
def test_verbs_with_a_limit_refuse_a_design_that_it_does_not_see(verb, task):
    with pytest.raises(ValueError, match=REFUSED):
        verb(task)


def test_losses_of_all_kinds_are_refused_too():
    task = fl.Classification(0.5, target=fl.Normal(), design=MATRIX.design)
    with pytest.raises(ValueError, match=REFUSED):
        fl.solve_dmft(fl.Linear(), task, STEPS)


def test_points_of_a_sweep_with_such_a_design_fail_by_name():
    table = fl.sweep(fl.fixed_point, MODEL, TASK, over={"task.design": [fl.GaussianDesign(), MATRIX.design]})
    (failure,) = table.failures
    assert "design: given MatrixDesign" in failure.outcome.message


def test_a_batched_sweep_refuses_its_task():
    with pytest.raises((ValueError, fl.FlowlimitError), match="design: given MatrixDesign"):
        fl.sweep(fl.fixed_point, MODEL, MATRIX, over={"model.init_scale": [0.1, 0.3]})


@pytest.mark.parametrize(
    "design",
    [fl.GaussianDesign(), fl.BinaryDesign(), fl.StudentDesign(3.0), fl.IIDDesign(fl.Bernoulli(0.3)), Plain()],
    ids=repr,
)
def test_independent_entries_keep_their_limit(design):
    refuse_without_limit(TASK.replaced(design=design))
