"""What public DMFT codes do, on the reference problem: Euler steps, Monte Carlo paths, dense tangents, one path count.

    python benchmarks/recipe_of_today.py         # its cost at 3%, and the limit's at equal accuracy

The recipe's error has two parts, measured here: from the step (order 1) and from the paths (order 1/2). Its cost grows
like paths / step^3. From these its cost at any accuracy follows; flowlimit's is measured, compilation aside.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import solve_triangular

import flowlimit as fl
from flowlimit.dmft.control.draws import make_replica
from flowlimit.dmft.control.plan import make_plan
from flowlimit.dmft.engine.march import march
from flowlimit.dmft.readout.curves import curves_of
from flowlimit.dmft.readout.grid import make_grid
from flowlimit.dmft.readout.measure import Measure
from flowlimit.dmft.readout.solution import read_solution
from flowlimit.dmft.sampling.modes import modes_of
from flowlimit.dmft.sampling.paths import Counts

jax.config.update("jax_enable_x64", True)

TIMES = np.array([1.0, 5.0, 10.0, 20.0])
# benchmarks/limit_reference.py reference --rtol 1e-3
TRUTH = np.array([0.062426, 0.0061128, 0.0017954, 0.0004200, 0.093430, 0.058753, 0.052957, 0.051928])
FOUR, SIX = np.array([0.0, 3.5, 8.0, 13.5, 20.0]), np.array([0.0, 1.5, 3.2, 5.5, 8.5, 13.0, 20.0])
DELTA, SCALE, NOISE, SPARSITY = 0.5, 0.3, 0.1, 0.1


def recipe(step, paths, seed=0, jitter=1e-8):
    """Training and test errors at TIMES, by the usual recipe."""
    count = round(TIMES[-1] / step) + 1
    normals = np.random.default_rng(seed).normal(size=(count, paths))
    w_star = (np.arange(paths) < SPARSITY * paths).astype(float)
    u, v = np.full(paths, SCALE), np.full(paths, SCALE)
    W, du, dv = (np.zeros((count, paths)) for _ in range(3))
    dw, C_w, R_w, C_f, L = np.zeros((count, count, paths)), *(np.zeros((count, count)) for _ in range(4))
    G = np.eye(count)
    for i in range(count):
        W[i] = (u * u - v * v) / 2 - w_star
        dw[i, :i] = u * du[:i] - v * dv[:i]
        R_w[i, :i] = -dw[i, :i].mean(-1)
        C_w[i, : i + 1] = C_w[: i + 1, i] = W[: i + 1] @ W[i] / paths
        G[i, :i] = -R_w[i, :i] @ G[:i, :i]
        row = G[i, : i + 1] @ (C_w[: i + 1, : i + 1] + NOISE**2) @ G[: i + 1, : i + 1].T
        C_f[i, : i + 1] = C_f[: i + 1, i] = row
        known = solve_triangular(L[:i, :i], DELTA * C_f[:i, i], lower=True) if i else np.zeros(0)
        L[i, :i], L[i, i] = known, np.sqrt(max(DELTA * C_f[i, i] - known @ known + jitter, jitter))
        g = L[i, : i + 1] @ normals[: i + 1] / DELTA + G[i, : i + 1] @ W[: i + 1]
        dg = np.zeros((i + 1, paths))
        dg[:i] = np.tensordot(G[i, : i + 1], dw[: i + 1, :i], 1)
        dg[i] = 1 / DELTA
        du[: i + 1] = du[: i + 1] * (1 - step / 2 * g) - step / 2 * u * dg
        dv[: i + 1] = dv[: i + 1] * (1 + step / 2 * g) + step / 2 * v * dg
        u, v = u - step / 2 * u * g, v + step / 2 * v * g
    at = np.round(TIMES / step).astype(int)
    return np.r_[np.diag(C_f)[at], (np.diag(C_w) + NOISE**2)[at]]


def error_of(values):
    """Root mean square relative error over both curves and all times."""
    return float(np.sqrt(np.mean((values / TRUTH - 1) ** 2)))


def measure_recipe():
    """Cost and error of the recipe: (seconds, bias of the step, spread of the paths) at step .1 and 1000 paths."""
    began = time.perf_counter()
    values = np.stack([recipe(0.1, 1000, seed) for seed in range(3)])
    seconds = (time.perf_counter() - began) / 3
    coarse = np.stack([recipe(0.2, 1000, seed) for seed in range(3)])
    bias = error_of(TRUTH + (values.mean(0) - coarse.mean(0)))  # halving the step halves the bias
    spread = float(np.sqrt(np.mean((values.std(0, ddof=1) / TRUTH) ** 2)))
    return seconds, bias, spread


def recipe_cost(target, seconds, bias, spread):
    """Seconds of the recipe at a target error, both parts at target / sqrt(2): steps^3 from bias, paths from spread."""
    part = target / np.sqrt(2)
    return seconds * (bias / part) ** 3 * max((spread / part) ** 2, 1e-3)


def measure_limit(paths, few, edges, repeats=5):
    """Seconds and error of one solve of flowlimit on given panels."""
    model, task = fl.DiagonalLinear(SCALE), fl.Regression(DELTA, noise_var=NOISE**2, target=fl.Bernoulli(SPARSITY))
    training = fl.GradientFlow(TIMES[-1])
    plan = make_plan(model, task, training, key=jax.random.key(0), rtol=1e-2, measure=Measure(()), memory_limit=2**32)
    grid = make_grid(training.clock, edges, TIMES, 8)

    def solve(replica, **given):
        problem = make_replica(plan, grid.nodes, Counts(paths, few), replica, **given)
        return read_solution(problem, march(problem, grid.blocks, plan.measure.count), grid.nodes)

    first = solve(99)
    given = {"rotation": modes_of(grid, first), "reference": first}
    solve(98, **given)
    seconds, errors = [], []
    for replica in range(repeats):
        began = time.perf_counter()
        solution = solve(replica, **given)
        seconds.append(time.perf_counter() - began)
        curves = curves_of(plan.measure, grid, solution)
        errors.append(error_of(np.r_[curves["train_error"], curves["test_error"]]))
    return float(np.median(seconds)), float(np.sqrt(np.mean(np.square(errors))))


def main() -> None:
    jnp.zeros(1)
    seconds, bias, spread = measure_recipe()
    print(f"recipe, step 0.1, 1000 paths: {seconds:.1f} s, bias {100 * bias:.1f}%, spread {100 * spread:.1f}%")
    print("| flowlimit: paths, those for responses | seconds | error | recipe at equal error (extrapolated) | ratio |")
    print("|---|---|---|---|---|")
    for paths, few, panels in ((32, 32, FOUR), (64, 64, FOUR), (512, 128, SIX), (2048, 512, SIX)):
        own, error = measure_limit(paths, few, panels)
        cost = recipe_cost(error, seconds, bias, spread)
        row = f"2 x {paths}, 2 x {few}, {len(panels) - 1} panels | {own:.3f} | {100 * error:.2f}%"
        print(f"| {row} | {cost:.3g} s | {cost / own:.3g} |", flush=True)
    print(f"at 3%: the recipe needs {recipe_cost(0.03, seconds, bias, spread):.3g} s")


if __name__ == "__main__":
    main()
