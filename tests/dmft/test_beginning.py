"""A solve that begins with a neighbour's panels and operators: no pilot, unless they do not do."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import block_diag

import flowlimit as fl
from flowlimit.dmft.control import driver, replicas
from flowlimit.dmft.control.beginning import causal_root
from flowlimit.dmft.control.draws import make_replica
from flowlimit.dmft.control.plan import make_plan
from flowlimit.dmft.engine.march import march
from flowlimit.dmft.readout.grid import make_grid
from flowlimit.dmft.readout.measure import Measure
from flowlimit.dmft.readout.solution import read_solution
from flowlimit.dmft.sampling.paths import Counts
from flowlimit.numerics.streams import as_key

TASK = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
RTOL, HORIZON = 0.1, 10.0


@pytest.fixture(scope="module")
def neighbour():
    return fl.solve_dmft(fl.DiagonalLinear(0.3), TASK, fl.GradientFlow(HORIZON), rtol=RTOL, key=0)


@pytest.fixture
def pilots(monkeypatch):
    """What the pilots of a test were given, one entry for each."""
    begun, pilot = [], driver._steady_pilot
    monkeypatch.setattr(driver, "_steady_pilot", lambda *given: begun.append(given) or pilot(*given))
    return begun


def solve(init_scale, horizon=HORIZON, rtol=RTOL, **options):
    return fl.solve_dmft(fl.DiagonalLinear(init_scale), TASK, fl.GradientFlow(horizon), rtol=rtol, key=0, **options)


def plan_of(model, training, rtol):
    given = {"key": as_key(0), "measure": Measure(()), "memory_limit": 2**32}
    return make_plan(model, TASK, training, rtol=rtol, **given)


def test_a_neighbour_serves_as_pilot(neighbour, pilots):
    """Both bars, at three standard errors: the two solves have other modes, and so other paths."""
    from_neighbour = solve(0.33, start=neighbour)
    assert not pilots
    assert from_neighbour.stats.edges == neighbour.stats.edges
    alone = solve(0.33)
    assert len(pilots) == 1
    comparison = fl.compare(from_neighbour, alone, at=[0.5, 2.0, 5.0, 10.0])
    assert comparison.passed


@pytest.mark.parametrize("other", [{"horizon": 12.0}, {"rtol": 0.05}])
def test_what_is_no_neighbour_leaves_the_pilot(neighbour, pilots, other):
    """Another span, or more accuracy than the panels are known to give."""
    assert solve(0.3, start=neighbour, **other).result.code is fl.Code.SUCCESSFUL
    assert len(pilots) == 1


def test_operators_without_meaning_leave_the_pilot(neighbour, pilots):
    """As of a file that somebody changed: another order of panels, or a number that is none."""
    broken = replace(neighbour.operators, R_w=np.full_like(neighbour.operators.R_w, np.nan))
    assert solve(0.3, start=replace(neighbour, operators=broken)).result.code is fl.Code.SUCCESSFUL
    assert solve(0.3, start=neighbour, solver=fl.PanelSolver(order=10)).result.code is fl.Code.SUCCESSFUL
    assert len(pilots) == 2


def test_panels_that_do_not_do_are_chosen_anew(neighbour, pilots):
    """Two panels for all of it: their time error says so, and the pilot begins after all."""
    edges = (0.0, 5.0, HORIZON)
    order = neighbour.stats.nodes // (len(neighbour.stats.edges) - 1)
    few = replace(neighbour.stats, edges=edges, nodes=2 * order)
    cut = lambda array: array[tuple(slice(2 * order) for _ in array.shape)]
    parts = lambda one, *names: {name: cut(getattr(one, name)) for name in ("times", "R_w", "R_f", *names)}
    kernels = replace(neighbour.kernels, **parts(neighbour.kernels, "C_w", "C_f"), stderr={})
    operators = replace(neighbour.operators, **parts(neighbour.operators, "weights", "S"))
    rough = replace(neighbour, stats=few, kernels=kernels, operators=operators)
    found = solve(3.0, rtol=RTOL, start=rough)
    assert found.result.code is fl.Code.SUCCESSFUL
    assert len(pilots) == 1
    assert found.stats.nodes > 2 * order
    assert fl.compare(found, solve(3.0, rtol=RTOL), at=[0.5, 2.0, 5.0, 10.0]).passed


def test_later_replicas_and_parts_begin_with_the_first_ones(neighbour, monkeypatch):
    """A neighbour's operators are further away than those of this problem: after the first two nobody begins there."""
    begun, make = [], replicas.make_replica

    def noted(*given, nearer, part, **more):
        begun.append((given[3], part is not None, nearer))
        return make(*given, nearer=nearer, part=part, **more)

    iterations, march = [], replicas.march

    def counted(*given):
        rows = march(*given)
        iterations.append(np.asarray(rows.iterations)[:: fl.PanelSolver().order].sum())
        return rows

    monkeypatch.setattr(replicas, "make_replica", noted)
    monkeypatch.setattr(replicas, "march", counted)
    solve(0.6, start=neighbour)
    assert [(number, nearer) for number, _, nearer in begun[:2]] == [(0, None), (1, None)]
    others = begun[2:]
    assert all(nearer is not None for _, _, nearer in others)
    assert {part for _, part, _ in others} == {True, False}
    assert np.mean(iterations[2:]) < 0.9 * np.mean(iterations[:2])
    begun.clear()
    solve(0.6)  # with a pilot all begin with its operators
    assert all(nearer is None for _, _, nearer in begun)


def test_what_a_replica_settles_at_depends_on_its_goal(neighbour):
    """Iterations may start from a root for other normals; the replica's normals are those of the goal all the same."""
    plan = plan_of(fl.DiagonalLinear(0.3), fl.GradientFlow(HORIZON), RTOL)
    grid = make_grid(plan.clock, np.array(neighbour.stats.edges), np.array([HORIZON]), plan.settings.order)
    counts, nodes = Counts(128, 32), grid.nodes

    def solved(number, **given):
        rows = march(make_replica(plan, nodes, counts, number, **given), grid.blocks, plan.measure.count)
        return read_solution(make_replica(plan, nodes, counts, number), rows, nodes)

    first = solved(0)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(nodes // 8, 8, 8)))[0]
    other = replace(first, L=first.L @ block_diag(*turn))
    goal, from_other, other_goal = (
        solved(1, reference=first),
        solved(1, reference=first, nearer=other),
        solved(1, reference=other),
    )
    apart = lambda one, two: np.abs(one.L - two.L).max()
    assert apart(goal, from_other) < 0.1 * apart(goal, other_goal)
    assert apart(goal, first) < 0.5 * apart(goal, other_goal)


def test_a_root_of_a_kernel_with_fewer_directions_than_nodes():
    rows = np.random.default_rng(0).normal(size=(6, 3))
    L = causal_root(rows @ rows.T)
    np.testing.assert_allclose(L @ L.T, rows @ rows.T, atol=1e-12)
    assert (np.triu(L, 1) == 0.0).all()
    assert np.count_nonzero(np.abs(L).sum(axis=0)) == 3


def test_crowded_levels_are_left_out():
    """With 128 paths the moments of 64 normals are matched; a stiff problem has 144 nodes."""
    plan = lambda rtol: plan_of(fl.DiagonalLinear(10.0), fl.GradientFlow(100.0), rtol)
    assert [plan(0.1).settled_level(-1, nodes) for nodes in (64, 72)] == [-1, 0]
    assert plan(0.9).settled_level(-1, 144) == -1  # where a bias of some percent does not count
    assert plan(0.1).settled_level(1, 3000) == 1
