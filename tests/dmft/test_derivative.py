"""Derivatives of a limit by numbers of the problem, against finite differences."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.dmft import differentiate, frozen_grid
from flowlimit.dmft.control.draws import make_cloud
from flowlimit.dmft.control.plan import make_plan
from flowlimit.dmft.derivative import _errors
from flowlimit.dmft.readout.grid import make_grid
from flowlimit.dmft.readout.kernels import make_kernels
from flowlimit.dmft.readout.measure import Measure
from flowlimit.dmft.readout.solution import Solution
from flowlimit.dmft.sampling.paths import Counts, live_strata
from flowlimit.results.answer import NOUNS
from flowlimit.results.spread import student_factor

PROBLEM = (
    fl.Linear(0.1, init_scale=0.5),
    fl.Regression(2.0, noise_var=0.1, target=fl.Normal()),
    fl.GradientDescent(0.3, num_steps=8),
)


@pytest.mark.slow
@pytest.mark.parametrize("wrt", ["model.weight_decay", "task.aspect_ratio", "training.step_size"])
def test_linear_model(wrt):
    """A linear limit is exact, so differences of whole solves are too, up to the difference's own error of 1e-6."""
    place, field = {"model": 0, "task": 1, "training": 2}[wrt.split(".")[0]], wrt.split(".")[1]
    pick = lambda nouns: getattr(nouns[place], field)
    near = lambda step: fl.solve_dmft(*eqx.tree_at(pick, PROBLEM, pick(PROBLEM) + step))
    step = 1e-4
    slope = fl.derivative(fl.solve_dmft(*PROBLEM), wrt, replicas=2)
    for name in ("train_error", "test_error"):
        difference = (near(step)[name].value - near(-step)[name].value) / (2 * step)
        assert slope[name].value == pytest.approx(difference, rel=1e-5, abs=1e-6)
        assert slope[name].stderr.max() < 1e-8


@pytest.mark.slow
def test_diagonal_network_by_steps():
    """k = 2, where the start itself depends on init_scale; the same normals on both sides of the difference."""
    nouns = (
        fl.DiagonalLinear(0.5),
        fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1)),
        fl.GradientDescent(0.3, num_steps=8),
    )
    limit = fl.solve_dmft(*nouns, rtol=5e-2)
    plan = make_plan(*nouns, key=jax.random.key(0), rtol=5e-2, measure=Measure(()), memory_limit=2**30)
    grid, rotation = frozen_grid(limit, nouns[2].clock)
    counts, pick = Counts(64, 32), lambda nouns: nouns[0].init_scale
    found = differentiate(plan, nouns, pick, grid, counts, rotation, 1)
    cloud = make_cloud(plan, grid.nodes, counts, 0, rotation)
    live = live_strata(plan.law)
    errors = jax.jit(lambda x: _errors(plan, eqx.tree_at(pick, nouns, x), grid, counts, cloud, live))
    above, below = (errors(jnp.array(0.5 + step)) for step in (1e-4, -1e-4))
    for name, up, down in zip(("train_error", "test_error"), above, below, strict=True):
        assert found[name][0] == pytest.approx(np.asarray(up - down) / 2e-4, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("wrt", ["model", "model.depth", "nothing.at_all", "training.horizon"])
def test_refusals(wrt):
    problem = fl.Linear(), fl.Regression(2.0, noise_var=0.1, target=fl.Normal()), fl.GradientDescent(0.3, num_steps=8)
    limit = fl.solve_dmft(*problem)
    limit = dataclasses.replace(limit, training=fl.GradientFlow(1.0)) if wrt.endswith("horizon") else limit
    with pytest.raises(ValueError, match="wrt"):
        fl.derivative(limit, wrt)


def test_a_limit_without_its_nouns_says_what_to_do():
    limit = fl.Limit(np.zeros(1), {"test_error": np.zeros((8, 1))}, discrete=True)
    with pytest.raises(ValueError, match=r"model: this Limit does not hold it.*fl\.load\(path, model=model\)"):
        fl.derivative(limit, "task.noise_var")


@pytest.mark.parametrize("replicas", [1, 0])
def test_a_spread_needs_two_replicas(replicas):
    limit = fl.Limit(np.zeros(1), {"test_error": np.zeros((8, 1))}, True, **dict(zip(NOUNS, PROBLEM, strict=True)))
    with pytest.raises(ValueError, match=r"replicas: given .*, needs an int of at least 2"):
        fl.derivative(limit, "task.noise_var", replicas=replicas)


def test_spread_of_kernels():
    """Of large values that hardly differ, where E[x^2] - E[x]^2 leaves nothing; unknown, not 0 x infinity, of one."""
    grid = make_grid(PROBLEM[2].clock, None, np.zeros(1), 8)
    nodes, eye = grid.nodes, np.eye(grid.nodes)
    values = 1e9 + np.array([0.0, 1.0, 3.0])
    one = lambda value: Solution(np.zeros((nodes, nodes)), eye, eye, np.zeros((nodes, 1)), C_w=value + 0.0 * eye)
    kernels, _ = make_kernels(grid, [one(value) for value in values], 0.0)
    exact = student_factor(3) * values.std(ddof=1) / np.sqrt(3)
    assert kernels.stderr["C_w"] == pytest.approx(np.full((nodes, nodes), exact), rel=1e-6)
    assert np.isnan(make_kernels(grid, [one(1.0)], 0.0)[0].stderr["C_w"]).all()
