"""A solve that begins with a neighbour's panels and operators: no pilot, unless they do not do."""

from dataclasses import replace

import numpy as np
import pytest

import flowlimit as fl
from flowlimit.dmft.control import driver
from flowlimit.dmft.control.beginning import causal_root

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


def test_a_root_of_a_kernel_with_fewer_directions_than_nodes():
    rows = np.random.default_rng(0).normal(size=(6, 3))
    L = causal_root(rows @ rows.T)
    np.testing.assert_allclose(L @ L.T, rows @ rows.T, atol=1e-12)
    assert (np.triu(L, 1) == 0.0).all()
    assert np.count_nonzero(np.abs(L).sum(axis=0)) == 3


def test_crowded_levels_are_left_out():
    """With 128 paths the moments of 64 normals are matched; a stiff problem has 144 nodes."""
    from flowlimit.dmft.control.plan import make_plan
    from flowlimit.dmft.readout.measure import Measure
    from flowlimit.numerics.streams import as_key

    given = {"key": as_key(0), "measure": Measure(()), "memory_limit": 2**32}
    plan = lambda rtol: make_plan(fl.DiagonalLinear(10.0), TASK, fl.GradientFlow(100.0), rtol=rtol, **given)
    assert [plan(0.1).settled_level(-1, nodes) for nodes in (64, 72)] == [-1, 0]
    assert plan(0.9).settled_level(-1, 144) == -1  # where a bias of some percent does not count
    assert plan(0.1).settled_level(1, 3000) == 1
