"""Two panels of a linear flow, without the driver, against integrals over the Marchenko-Pastur law."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.dmft.engine.march import march
from flowlimit.dmft.engine.replica import Reference, Replica
from flowlimit.dmft.engine.site import make_site
from flowlimit.dmft.engine.state import TaskNumbers
from flowlimit.dmft.readout.curves import curves_of
from flowlimit.dmft.readout.grid import make_grid
from flowlimit.dmft.readout.measure import Measure
from flowlimit.dmft.readout.solution import read_paths, read_solution
from flowlimit.dmft.sampling.paths import Counts, draw_cloud, live_strata, make_paths
from flowlimit.dmft.settings import PanelSettings
from flowlimit.numerics.marchenko_pastur import marchenko_pastur
from flowlimit.problem.flow import make_flow

pytestmark = pytest.mark.slow

DELTA, NOISE, DECAY, OVERLAP = 0.5, 0.1, 0.3, 0.2
ROOM = 96


@pytest.fixture(scope="module")
def solved():
    """One replica's solution: moments are matched, so that a linear model has no sampling error."""
    law, training, measure, counts = fl.Normal(), fl.GradientFlow(1.0), Measure(()), Counts(128, 16)
    task = fl.Regression(DELTA, noise_var=NOISE, target=law)
    site = make_site(make_flow(fl.Linear(DECAY, init_scale=1.0, init_overlap=OVERLAP), task, training))
    grid = make_grid(training.clock, np.array([0.0, 0.4, 1.0]), np.array([0.0, 0.3, 1.0]), 8)
    cloud = draw_cloud(site, law, live_strata(law), ROOM, grid.nodes, counts, None, np.random.default_rng(0))
    paths = make_paths(site, law, live_strata(law), counts, cloud)
    setting = TaskNumbers(task.aspect_ratio, task.noise_var, jnp.asarray(1e-9))
    nothing = jnp.zeros((ROOM, ROOM))
    problem = Replica(site, setting, paths, Reference(nothing, nothing, nothing), measure, PanelSettings().iteration)
    rows = march(problem, grid.blocks, measure.count)
    solution = read_solution(problem, rows, grid.nodes)
    return grid, measure, solution, read_paths(grid, problem, rows, solution)


def test_curves(solved):
    """Ridge regression from a random, correlated start: w - w* = on_target w* + left start + gained noise."""
    grid, measure, solution, _ = solved
    x, weights = marchenko_pastur(DELTA)
    t, rate = grid.saves[:, None], x + DECAY
    left = np.exp(-rate * t)
    gone = (1.0 - left) / rate
    on_target = (OVERLAP - 1.0) * left - DECAY * gone
    test = (on_target**2 + left**2 + NOISE / DELTA * x * gone**2) @ weights + NOISE
    train = (x * (on_target**2 + left**2) + NOISE / DELTA * (1.0 - x * gone) ** 2) @ weights
    curves = curves_of(measure, grid, solution)
    assert curves["test_error"] == pytest.approx(test, rel=1e-6)
    assert curves["train_error"] == pytest.approx(train + NOISE * (1.0 - 1.0 / DELTA), rel=1e-6)
    penalty = DECAY / 2 * ((1.0 + on_target) ** 2 + left**2 + NOISE / DELTA * x * gone**2) @ weights
    assert curves["loss"] == pytest.approx(0.5 * curves["train_error"] + penalty, rel=1e-6)


def test_response(solved):
    """The integral of R_w(t, s) over s is that of e^(-(x + decay)(t - s))/delta; R_f follows from it."""
    grid, _, solution, _ = solved
    x, weights = marchenko_pastur(DELTA)
    rate = x + DECAY
    exact = ((1.0 - np.exp(-rate * grid.times[:, None])) / rate) @ weights / DELTA
    assert solution.R_w @ np.ones(grid.nodes) == pytest.approx(exact, rel=1e-6)
    assert solution.G @ (np.eye(grid.nodes) + solution.R_w) == pytest.approx(np.eye(grid.nodes), abs=1e-9)


def test_paths_obey_the_flow(solved):
    """w(t) = w(0) - int (g + decay w), path by path, with the g that is reported."""
    grid, _, _, paths = solved
    own = jax.tree.map(lambda x: np.asarray(x[0]), grid.blocks)
    p = -(paths.g[:8] + DECAY * paths.w[:8])
    start = paths.w[0] - own.inner[0] @ p
    assert paths.w[:8] == pytest.approx(start + own.inner @ p, abs=1e-7)
    assert paths.probability @ start**2 == pytest.approx(OVERLAP**2 + 1.0, rel=1e-6)
