"""Orders of the limit's two errors on the reference problem: in time (panels) and in paths (against plain Monte Carlo).

    python benchmarks/limit_order.py

Time: one replica of a linear model on 1 to 6 equal panels up to t = 4, compared with 12; the tails' estimate beside it.
Paths: the spread over replicas with quasi-random, matched normals and with plain random ones, at equal paths.
"""

import jax
import numpy as np

import flowlimit as fl
from flowlimit.dmft import frozen_grid
from flowlimit.dmft.control.draws import make_replica
from flowlimit.dmft.control.plan import make_plan
from flowlimit.dmft.engine.march import march
from flowlimit.dmft.engine.replica import Replica
from flowlimit.dmft.readout.curves import curves_of, time_errors
from flowlimit.dmft.readout.grid import make_grid
from flowlimit.dmft.readout.measure import Measure
from flowlimit.dmft.readout.solution import read_solution
from flowlimit.dmft.sampling.paths import Cloud, Counts, live_strata, make_paths

jax.config.update("jax_enable_x64", True)

NOUNS = fl.DiagonalLinear(0.3), fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1)), fl.GradientFlow(20.0)
TIMES = np.array([1.0, 5.0, 10.0, 20.0])


def plan_for(training, rtol):
    return make_plan(*NOUNS[:2], training, key=jax.random.key(0), rtol=rtol, measure=Measure(()), memory_limit=2**32)


def solve(plan, grid, problem: Replica):
    return read_solution(problem, march(problem, grid.blocks, plan.measure.count), grid.nodes)


def time_order() -> None:
    """A linear model, whose answer does not depend on the paths: what changes with the panels is the time error."""
    training, model = fl.GradientFlow(4.0), fl.Linear()
    plan = make_plan(
        model, NOUNS[1], training, key=jax.random.key(0), rtol=1e-9, measure=Measure(()), memory_limit=2**32
    )
    print("| panels up to t = 4 | largest relative error | estimate from the tails |\n|---|---|---|")
    found = {}
    for count in (12, 6, 4, 3, 2, 1):
        grid = make_grid(training.clock, np.linspace(0.0, 4.0, count + 1), np.linspace(0.3, 4.0, 20), 8)
        solution = solve(plan, grid, make_replica(plan, grid.nodes, Counts(256, 32), 0))
        curve = curves_of(plan.measure, grid, solution)["train_error"]
        found[count] = curve, time_errors(plan.measure, grid, solution)["train_error"]
    exact = found[12][0]
    for count in (1, 2, 3, 4, 6):
        curve, estimate = found[count]
        error = np.abs(curve / exact - 1).max()
        print(f"| {count} | {error:.1e} | {(estimate / exact).max():.1e} |", flush=True)


def path_order(replicas: int = 12) -> None:
    plan = plan_for(NOUNS[2], 1e-2)
    limit = fl.solve_dmft(*NOUNS, rtol=5e-2, save_at=TIMES)
    grid, rotation = frozen_grid(limit, NOUNS[2].clock)
    print(
        "| paths | spread, quasi-random | spread, plain | ratio (train; test at t = 1, 5, 10, 20) |\n|---|---|---|---|"
    )
    for counts in (Counts(256, 256), Counts(512, 512), Counts(1024, 1024)):
        spreads = []
        for plain in (False, True):
            values = []
            for replica in range(replicas):
                problem = make_replica(plan, grid.nodes, counts, replica, rotation=rotation)
                if plain:
                    problem = with_plain_normals(plan, grid, counts, replica, problem)
                curves = curves_of(plan.measure, grid, solve(plan, grid, problem))
                values.append(np.r_[curves["train_error"], curves["test_error"]])
            spreads.append(np.std(values, axis=0, ddof=1) / np.mean(values, axis=0))
        text = [", ".join(f"{100 * x:.2f}%" for x in spread) for spread in spreads]
        ratio = ", ".join(f"{x:.1f}" for x in spreads[1] / spreads[0])
        print(f"| 2 x {counts.paths} | {text[0]} | {text[1]} | {ratio} |", flush=True)


def with_plain_normals(plan, grid, counts, replica, problem):
    """The same problem with independent random normals and no moments matched."""
    shape = problem.paths.normals.shape
    z = np.random.default_rng(replica).normal(size=shape)
    none = np.zeros((0, plan.site.parameters, shape[1]))
    cloud = Cloud(np.zeros((shape[1], 1)), np.zeros((shape[1], 0)), z, none, np.ones(shape[1]))
    paths = make_paths(plan.site, plan.law, live_strata(plan.law), counts, cloud)
    return Replica(problem.site, problem.setting, paths, problem.reference, problem.observe, problem.iteration)


if __name__ == "__main__":
    time_order()
    path_order()
