"""The verb `solve_dmft`: references, error bars, records, refusals. One small problem is solved once and shared."""

import threading
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.dmft.control import replicas
from flowlimit.dmft.control.draws import make_replica
from flowlimit.dmft.control.plan import make_plan
from flowlimit.dmft.engine.march import march, whole_march
from flowlimit.dmft.engine.site import make_site
from flowlimit.dmft.engine.state import memory_bytes
from flowlimit.dmft.readout.curves import curves_of, time_errors
from flowlimit.dmft.readout.grid import make_grid
from flowlimit.dmft.readout.measure import Measure
from flowlimit.dmft.readout.solution import read_solution
from flowlimit.dmft.sampling.paths import Counts
from flowlimit.problem.flow import make_flow
from flowlimit.results.spread import student_factor

pytestmark = pytest.mark.slow

TASK = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
TIMES = [0.0, 1.0, 5.0, 10.0, 20.0]
RTOL = 5e-2
REFERENCE = {
    "train_error": [0.11, 0.062426, 0.0061128, 0.0017954, 0.0004200],
    "test_error": [0.11, 0.093430, 0.058753, 0.052957, 0.051928],
}


@pytest.fixture(scope="module")
def limit():
    overlap = {"overlap": lambda w, w_star: w * w_star}
    return fl.solve_dmft(
        fl.DiagonalLinear(0.3), TASK, fl.GradientFlow(20.0), rtol=RTOL, save_at=TIMES, observables=overlap
    )


def test_reference_problem(limit):
    """Values of a large run (benchmarks/limit_reference.py), known to 0.05%; three standard errors beside it."""
    assert limit.result.code == fl.Code.SUCCESSFUL
    for name, reference in REFERENCE.items():
        curve = limit[name]
        assert (np.abs(curve.value - reference) < 3 * curve.stderr + 5e-4 * np.array(reference)).all()
        assert (2 * curve.stderr <= RTOL * curve.value * (1 + 1e-9)).all()


def test_consistency(limit):
    """Curves, kernels and paths say the same: C_f(t, t) is the training error, w and w* average to the overlap."""
    kernels, paths = limit.kernels, limit.paths
    at = paths.weights_at(20.0)
    assert paths.probability @ (at * paths.w_star) == pytest.approx(limit["overlap"].value[-1], rel=0.01)
    squares = paths.probability @ (at - paths.w_star) ** 2 + 0.01
    assert squares == pytest.approx(limit.test_error[-1], rel=0.02)
    diagonal = np.diagonal(kernels.C_f)
    assert diagonal[-1] == pytest.approx(limit.train_error[-1], rel=0.1)
    assert np.abs(kernels.C_w - kernels.C_w.T).max() < 1e-12
    assert np.abs(np.triu(kernels.R_w, 1)).max() == 0.0
    # eq. (dmft_Rf) as operators: R_f = R_w (I + R_w)^-1, for the mean up to the spread of replicas
    R_w, R_f = limit.operators.R_w, limit.operators.R_f
    assert np.abs(R_w - R_f - R_w @ R_f).max() < 0.02 * np.abs(R_w).max()


def test_store_round_trip(limit, tmp_path):
    fl.save(limit, tmp_path / "limit.zarr")
    again = fl.load(tmp_path / "limit.zarr")
    assert isinstance(again, fl.Limit)
    assert again.replicas == limit.replicas
    for name in limit.curves:
        assert (again[name].value == limit[name].value).all()
        assert (again[name].stderr == limit[name].stderr).all()
    assert (again.kernels.R_w == limit.kernels.R_w).all()
    assert (again.operators.S == limit.operators.S).all()
    assert (again.paths.weights_at(7.0) == limit.paths.weights_at(7.0)).all()


def test_pictures(limit):
    runs = fl.simulate(
        fl.DiagonalLinear(0.3), TASK, fl.GradientFlow(20.0), dim=100, trials=3, save_at=TIMES, weights_at=[20.0]
    )
    axes = fl.plot.curves(limit, runs)
    texts = [text.get_text() for text in axes[0].figure.legends[0].get_texts()]
    assert sorted(texts) == ["3 runs, $d = 100$, balanced draws", "limit"]
    assert len(axes[0].collections) >= 1  # the band
    assert len(fl.plot.kernels(limit)) == 4
    assert fl.plot.law(limit, 20.0, runs).get_ylabel() == "density"
    with pytest.raises(ValueError, match="weights_at"):
        fl.plot.law(limit, 5.0, runs)


def test_descent_matches_simulation():
    """k = 2 and a large step, where gradient descent is far from the flow; dim 400, so at four standard errors."""
    problem = fl.DiagonalLinear(0.3), TASK, fl.GradientDescent(1.0, num_steps=12)
    limit = fl.solve_dmft(*problem, rtol=RTOL)
    comparison = fl.compare(limit, fl.simulate(*problem, dim=400, trials=20, key=1))
    assert comparison.passed, comparison
    assert "agree" in repr(comparison)
    assert bool(comparison)


def test_divergence_has_a_code():
    """A linear model with a step beyond the stability edge overflows; the limit says so and does not return NaN."""
    with pytest.raises(fl.FlowlimitError, match="step_size"):
        fl.solve_dmft(
            fl.Linear(), fl.Regression(0.5, noise_var=0.01, target=fl.Normal()), fl.GradientDescent(1e40, num_steps=12)
        )


def test_limits_are_stated():
    """Time and memory that are not enough end in a code with a message, not in silence."""
    problem = fl.DiagonalLinear(0.3), TASK, fl.GradientFlow(20.0)
    late = fl.solve_dmft(*problem, time_limit=1e-3, throw=False)
    assert late.result.code == fl.Code.NO_ANSWER
    assert late.result.message
    with pytest.raises(fl.FlowlimitError, match="no answer"):
        fl.solve_dmft(*problem, time_limit=1e-3)
    with pytest.raises(fl.FlowlimitError, match="memory_limit"):
        fl.solve_dmft(*problem, memory_limit=1e6)
    stopped = fl.solve_dmft(*problem, progress=lambda fraction, message: True)
    assert stopped.result.code == fl.Code.STOPPED


def test_start_from_an_earlier_limit(limit):
    """Extending the horizon keeps the panels found and agrees where both are known."""
    longer = fl.solve_dmft(
        fl.DiagonalLinear(0.3), TASK, fl.GradientFlow(25.0), rtol=RTOL, start=limit, save_at=[*TIMES, 25.0]
    )
    assert longer.stats.edges[:3] == limit.stats.edges[:3]
    assert longer.stats.level >= limit.stats.level
    assert fl.compare(limit, longer, at=TIMES[1:]).passed


def test_same_key_same_bits(limit):
    overlap = {"overlap": lambda w, w_star: w * w_star}
    again = fl.solve_dmft(
        fl.DiagonalLinear(0.3), TASK, fl.GradientFlow(20.0), rtol=RTOL, save_at=TIMES, observables=overlap
    )
    assert (again.train_error == limit.train_error).all()


def small_plan(model, training):
    return make_plan(model, TASK, training, key=jax.random.key(0), rtol=1e-4, measure=Measure(()), memory_limit=2**30)


def test_mirror_coordinate_equals_general_route():
    """Depth 2 as k = 1 in its mirror coordinate and as k = 2 in (u, v): the same limit on the same panels and paths.

    Each has its own nonlinear system to solve and its own paths of theta, but the same z and w*: curves agree to the
    time error.
    """
    clock = fl.GradientFlow(2.0)
    grid = make_grid(clock.clock, np.linspace(0.0, 2.0, 5), np.array([0.5, 2.0]), 8)
    values = []
    for model in (fl.DiagonalLinear(0.5, weight_decay=0.1), fl.DiagonalLinear(0.5, weight_decay=0.1, truncation=1e6)):
        plan = small_plan(model, clock)
        problem = make_replica(plan, grid.nodes, Counts(64, 32), 0)
        rows = march(problem, grid.blocks, plan.measure.count)
        values.append(curves_of(plan.measure, grid, read_solution(problem, rows, grid.nodes)))
    for name in ("train_error", "test_error", "norm_1"):
        assert values[0][name] == pytest.approx(values[1][name], rel=1e-5)


def test_whole_march_and_derivative():
    """The pure march equals the host's, and its derivative by init_scale equals finite differences."""
    training = fl.GradientFlow(2.0)
    grid = make_grid(training.clock, np.linspace(0.0, 2.0, 4), np.array([2.0]), 8)

    plan = small_plan(fl.DiagonalLinear(0.5), training)
    problem = make_replica(plan, grid.nodes, Counts(64, 32), 0)

    def error(scale):
        site = make_site(make_flow(fl.DiagonalLinear(scale), TASK, training))
        rows = whole_march(eqx.tree_at(lambda p: p.site, problem, site), grid.blocks, plan.measure.count)
        L = rows.L[: grid.nodes, : grid.nodes]
        root = L + rows.R_w[: grid.nodes, : grid.nodes] @ L
        return jnp.sum((jnp.asarray(grid.to_saves) @ root) ** 2)

    value, slope = jax.jit(lambda s: jax.jvp(error, (s,), (jnp.ones(()),)))(jnp.array(0.5))
    fast = jax.jit(error)
    step = 1e-4
    difference = (fast(jnp.array(0.5 + step)) - fast(jnp.array(0.5 - step))) / (2 * step)
    assert float(slope) == pytest.approx(float(difference), rel=1e-3)
    rows = march(problem, grid.blocks, plan.measure.count)
    host = curves_of(plan.measure, grid, read_solution(problem, rows, grid.nodes))["test_error"][0]
    assert float(value) == pytest.approx(host, rel=1e-9)


def test_late_panels_near_aspect_ratio_one_settle():
    """Replicas start from a pilot's operators; there their late panels took fifty iterations and were then halved."""
    task = fl.Regression(0.95, noise_var=0.1, target=fl.Bernoulli(0.1))
    solver = fl.PanelSolver(splits=0)
    limit = fl.solve_dmft(fl.DiagonalLinear(3.0), task, fl.GradientFlow(100.0), rtol=0.03, solver=solver, throw=False)
    assert limit.result.code is fl.Code.SUCCESSFUL


def test_what_comes_after_a_panel_that_does_not_settle_is_not_solved():
    """Such panels take all iterations that are allowed: a panel far too long is the last one that costs any."""
    plan = make_plan(
        fl.DiagonalLinear(3.0),
        TASK,
        fl.GradientFlow(80.0),
        settings=fl.PanelSolver(most_iterations=8),
        key=jax.random.key(0),
        rtol=1e-4,
        measure=Measure(()),
        memory_limit=2**30,
    )
    grid = make_grid(fl.GradientFlow(80.0).clock, np.array([0.0, 1e-3, 40.0, 60.0, 80.0]), np.array([80.0]), 8)
    rows = march(make_replica(plan, grid.nodes, Counts(64, 32), 0), grid.blocks, plan.measure.count)
    disagreement, iterations = (np.asarray(x)[: grid.nodes : 8] for x in (rows.disagreement, rows.iterations))
    allowed = plan.panels.settled_factor * plan.settings.iteration_part * plan.rtol
    assert disagreement[0] <= allowed
    assert not disagreement[1] <= allowed
    assert iterations[1] > 0
    assert iterations[2:].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("problem", ["flow", "steps"])
def test_a_stop_ends_replicas_that_are_running(problem, monkeypatch):
    """The user's stop is looked at while replicas run, not between batches alone: it ends them within a piece."""
    trainings = {"flow": fl.GradientFlow(5.0), "steps": fl.GradientDescent(0.1, num_steps=40)}
    began = threading.Event()
    ended, march = [], replicas.march

    def slow(replica, blocks, observables, deadline, seconds):
        began.set()
        try:
            for _ in range(200):
                deadline.check()
                time.sleep(0.05)
            return march(replica, blocks, observables, deadline, seconds)
        finally:
            ended.append(time.perf_counter())

    monkeypatch.setattr(replicas, "march", slow)
    stopping = []

    def stops(fraction, message):
        if began.is_set():
            stopping.append(time.perf_counter())
        return began.is_set()

    limit = fl.solve_dmft(fl.DiagonalLinear(0.5), TASK, trainings[problem], rtol=0.2, progress=stops, throw=False)
    assert limit.result.code is fl.Code.STOPPED
    assert max(ended) - stopping[0] < 5.0  # of the ten seconds that each of them would take


def test_time_error_is_spectral_and_estimated():
    """A linear model has no sampling error, so what changes with the panels is the time error: it falls geometrically,
    stays below its estimate, and more panels than needed do no harm (directions at rounding level are dropped)."""
    training = fl.GradientFlow(4.0)
    plan = make_plan(
        fl.Linear(), TASK, training, key=jax.random.key(0), rtol=1e-9, measure=Measure(()), memory_limit=2**30
    )
    found, estimates = {}, {}
    for panels in (1, 2, 4, 12):
        grid = make_grid(training.clock, np.linspace(0.0, 4.0, panels + 1), np.linspace(0.3, 4.0, 20), 8)
        problem = make_replica(plan, grid.nodes, Counts(256, 32), 0)
        rows = march(problem, grid.blocks, plan.measure.count)
        solution = read_solution(problem, rows, grid.nodes)
        found[panels] = curves_of(plan.measure, grid, solution)["train_error"]
        estimates[panels] = time_errors(plan.measure, grid, solution)["train_error"]
    errors = {panels: np.abs(found[panels] - found[12]) for panels in (1, 2, 4)}
    assert all((errors[panels] <= estimates[panels] + 1e-9).all() for panels in errors)
    one, two, four = ((errors[panels] / found[12]).max() for panels in (1, 2, 4))
    assert one > 100 * two > 1000 * four


def test_student_factor():
    assert student_factor(8) == pytest.approx(4.53 / 3, abs=0.02)
    assert student_factor(1000) == pytest.approx(1.0, abs=0.02)


def test_memory_formula():
    """The formula counts at least what the arrays of a replica hold."""
    from flowlimit.dmft.engine.state import empty_rows, start_front

    plan = small_plan(fl.DiagonalLinear(0.5), fl.GradientFlow(2.0))
    problem = make_replica(plan, 40, Counts(64, 32), 0)
    held = (problem.paths, empty_rows(problem.paths, 3), start_front(problem.paths))
    used = sum(x.nbytes for x in jax.tree.leaves(held))
    assert used <= memory_bytes(96, 8, 1, 128, 64) <= 4 * used


def test_site_shapes():
    site = make_site(make_flow(fl.DiagonalLinear(0.5, depth=3), TASK, fl.GradientFlow(1.0)))
    assert site.shape == (2,)
    slopes = site.slopes(jnp.zeros(1), jnp.full((1, 2, 3), 0.5), jnp.ones((1, 3)), None)
    # p_u = -(1/2) u^2 g, w = (u^3 - v^3)/3
    assert slopes.A[0, :, 0] == pytest.approx([-0.125, 0.125])
    assert slopes.C[0, :, 0] == pytest.approx([0.25, -0.25])
    assert np.asarray(slopes.B[0, :, :, 0]) == pytest.approx(np.diag([-0.5, 0.5]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rtol": 0.0}, "rtol"),
        ({"model": 3}, "model"),
        ({"task": 3}, "task"),
        ({"training": 3}, "training"),
        ({"start": 3}, "start"),
        ({"model": fl.DiagonalLinear([0.1, 0.2])}, "Empirical"),
    ],
)
def test_refusals(arguments, message):
    given = {"model": fl.DiagonalLinear(0.3), "task": TASK, "training": fl.GradientFlow(1.0)} | arguments
    with pytest.raises((ValueError, TypeError), match=message):
        fl.solve_dmft(**given)


def test_panels_that_never_settle_are_not_blamed_on_the_limit_alone():
    """A solve with too few paths ends like one whose limit is infinite: the words name both, with what to try."""
    solver = fl.PanelSolver(most_iterations=1)
    limit = fl.solve_dmft(
        fl.DiagonalLinear(0.3), TASK, fl.GradientFlow(5.0), rtol=0.1, solver=solver, throw=False, progress=False
    )
    assert limit.result.code is fl.Code.DIVERGED
    assert "either the limit is not finite" in limit.result.message
    advice = limit.result.message.partition("try solver=")[2]
    assert eval(advice, {"fl": fl}).first_paths > solver.first_paths  # it can be pasted
