"""Gradient flow: descent approaches it at order 1, its invariant holds, coordinates agree, stiff cases run."""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.problem.flow import make_flow
from flowlimit.simulation.data import Part, join, shared_data
from flowlimit.simulation.engine import Chunk
from flowlimit.simulation.plan import make_plan
from flowlimit.simulation.stiffness import is_stiff

SOLVER = diffrax.Dopri8()


def in_u_and_v(init_scale, weight_decay=0.0):
    """The depth-2 network without its mirror: integrated in (u, v)."""
    return fl.Reparametrized(difference_of_squares, init=[init_scale, init_scale], weight_decay=weight_decay, rate=0.5)


def difference_of_squares(theta):
    return (theta[0] ** 2 - theta[1] ** 2) / 2


@pytest.mark.slow
@pytest.mark.parametrize("model", [fl.DiagonalLinear(0.5, weight_decay=0.1), fl.DiagonalLinear(0.6, depth=3)], ids=repr)
def test_descent_approaches_the_flow_at_order_one(model, dataset):
    horizon, steps = 4.0, np.array([80, 160, 320])
    flow = fl.simulate(model, dataset, fl.GradientFlow(horizon), rtol=1e-9, weights_at=[horizon])
    errors = []
    for num in steps:
        runs = fl.simulate(
            model,
            dataset,
            fl.GradientDescent(horizon / num, num_steps=int(num)),
            save_at=[horizon],
            weights_at=[horizon],
        )
        errors.append(np.linalg.norm(runs.weights - flow.weights))
    orders = -np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert orders == pytest.approx(1.0, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("weight_decay", [0.0, 0.2])
@pytest.mark.parametrize("init_scale", [0.1, 1.0])
def test_invariant_in_u_and_v(init_scale, weight_decay, dataset):
    """u v = alpha^2 e^{-lambda t} to 1e-8 of itself when integrated in (u, v)."""
    times = [0.0, 1.0, 5.0, 10.0]
    theta = integrate_theta(in_u_and_v(init_scale, weight_decay), dataset, times)
    exact = init_scale**2 * np.exp(-weight_decay * np.asarray(times))[:, None]
    assert np.abs(theta[:, 0] * theta[:, 1] / exact - 1.0).max() < 1e-8


def integrate_theta(model, dataset, times):
    """theta at given times, through the engine itself: `simulate` returns weights only."""
    options = dict.fromkeys(("dim", "trials", "weights_at", "observables", "devices"))
    plan = make_plan(
        [model], dataset, fl.GradientFlow(times[-1]), key=0, save_at=times, rtol=1e-11, solver=SOLVER, **options
    )
    group, data = plan.groups[0], join(shared_data(dataset), Part())
    state = group.engine.start(group.flow, data, jax.random.key(0), jax.random.key(0))
    path = [np.asarray(state.theta[0])]
    for stop in times[1:]:
        chunk = Chunk(jnp.full(group.engine.slots, stop), jnp.asarray(stop))
        state, _ = advance(group.engine, group.flow, data, state, chunk)
        path.append(np.asarray(state.theta[0]))
    return np.stack(path)


@eqx.filter_jit
def advance(engine, flow, data, state, chunk):
    return engine.advance(flow, data, (), state, chunk)


@pytest.mark.slow
@pytest.mark.parametrize("weight_decay", [0.0, 0.2])
def test_both_coordinates_agree(weight_decay, dataset):
    models = [fl.DiagonalLinear(0.3, weight_decay=weight_decay), in_u_and_v(0.3, weight_decay)]
    mirror, plain = fl.simulate(
        models, dataset, fl.GradientFlow(20.0), rtol=1e-9, weights_at=[1.0, 20.0], save_at=[1, 20]
    )
    assert np.abs(mirror.weights - plain.weights).max() < 1e-7
    for name in mirror.curves:
        assert np.allclose(mirror[name].value, plain[name].value, rtol=1e-7), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("init_scale", "weight_decay", "horizon"),
    [(0.01, 0.0, 50.0), (0.01, 0.1, 50.0), (10.0, 0.1, 100.0), (10.0, 0.0, 100.0), (1e-4, 0.0, 100.0)],
)
def test_extreme_scales_reach_their_timescales(init_scale, weight_decay, horizon, dataset):
    """To the paper's timescales (descent for small, rich for large init scales) with no step chosen by hand.

    The check is a run ten times tighter; at rtol 1e-6 errors of the curves stay below 1e-5 of their start.
    """
    model = fl.DiagonalLinear(init_scale, weight_decay=weight_decay)
    runs, tight = (fl.simulate(model, dataset, fl.GradientFlow(horizon), rtol=r) for r in (1e-6, 1e-7))
    for name in ("train_error", "test_error"):
        assert np.abs(runs[name].value - tight[name].value).max() < 1e-5 * tight[name].value[0]
    # far beyond the start: the fit has happened
    assert runs.train_error[-1] < 0.2 * runs.train_error[0]


CURVES = ("train_error", "test_error", "loss", "norm_1", "norm_2")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "horizon", "solver"),
    [
        (fl.DiagonalLinear(0.3), 20.0, "Tsit5"),
        (fl.DiagonalLinear(2.0), 2000.0, "RungeKuttaChebyshev"),
        (fl.DiagonalLinear(0.2, depth=4), 100.0, "Tsit5"),
    ],
    ids=repr,
)
def test_accuracy_is_what_was_asked_for_and_is_reported(model, horizon, solver, dataset):
    """Against a run far tighter: errors stay within the reported time error, down to the training error's floor."""
    training = fl.GradientFlow(horizon)
    exact = fl.simulate(model, dataset, training, rtol=1e-10, solver=SOLVER)
    runs = fl.simulate(model, dataset, training, rtol=1e-6)
    assert runs.stats.solver == solver
    for name in CURVES:
        off = np.abs(runs[name].value - exact[name].value)
        assert (off <= runs.time_error[name] + exact.time_error[name]).all(), name
    assert (runs.time_error["test_error"] < 1e-4 * runs.test_error[0]).all()


@pytest.mark.slow
@pytest.mark.parametrize("init_scale", [1e-4, 0.01])
def test_sparse_saves_at_small_scales(init_scale, dataset):
    """A first step that is far too long overflows and must be rejected, not carried on as NaN."""
    model, training = fl.DiagonalLinear(init_scale), fl.GradientFlow(60.0)
    sparse = fl.simulate(model, dataset, training, save_at=[0.0, 60.0])
    dense = fl.simulate(model, dataset, training)
    assert sparse.stats.steps < 1000
    assert sparse.train_error[-1] == pytest.approx(dense.train_error[-1], rel=1e-4)
    assert sparse.test_error[-1] == pytest.approx(dense.test_error[-1], rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1e-4, 1e4])
def test_accuracy_does_not_depend_on_the_size_of_the_labels(size, dataset):
    """`Linear` is scale-free: labels times s give errors times s^2."""
    scaled = fl.Dataset(dataset.X, dataset.y * size, w_star=dataset.w_star * size, noise_var=0.01 * size**2)
    training = fl.GradientFlow(20.0)
    one, other = (fl.simulate(fl.Linear(), data, training, save_at=[0, 5, 20]) for data in (dataset, scaled))
    for name in ("train_error", "test_error"):
        assert other[name].value / size**2 == pytest.approx(one[name].value, rel=2e-5)


def test_a_flow_that_is_no_descent_gets_the_ordinary_solver(dataset):
    descent = make_flow(fl.Linear(), dataset, fl.GradientFlow(1e4))
    ascent = eqx.tree_at(lambda flow: flow.drift, descent, lambda t, theta, g: g)
    assert is_stiff(descent, 60, 0.5, 1e4, 1e-6)
    assert not is_stiff(ascent, 60, 0.5, 1e4, 1e-6)
