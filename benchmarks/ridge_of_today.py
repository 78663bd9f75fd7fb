"""Ridge regression by 50 steps of gradient descent, the default problem of today's public codes, against its integral.

Prints the largest relative errors of overlap and training error against the Marchenko-Pastur integral, the seconds of a
solve once compiled, and those of the bare matrix products of the same flops.

python benchmarks/ridge_of_today.py
"""

import argparse
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import flowlimit as fl
from flowlimit.numerics.marchenko_pastur import marchenko_pastur

jax.config.update("jax_enable_x64", True)

DELTA, DECAY, OVERLAP, STEP, STEPS = 3.0, 1 / 6, 0.2, 0.3, 50
OBSERVABLES = {"overlap": lambda w, w_star: w * w_star}


def solve(key: int) -> fl.Limit:
    """Solve the problem as a user would."""
    model = fl.Linear(weight_decay=DECAY, init_scale=1.0, init_overlap=OVERLAP)
    task = fl.Regression(DELTA, noise_var=0.0, target=fl.Normal())
    return fl.solve_dmft(model, task, fl.GradientDescent(STEP, num_steps=STEPS), key=key, observables=OBSERVABLES)


def exact() -> tuple[np.ndarray, np.ndarray]:
    """Return overlap and training error: means over the spectrum, where w = a w* + power w(0)."""
    x, weights = marchenko_pastur(DELTA)
    power = (1 - STEP * (x + DECAY)) ** np.arange(STEPS + 1)[:, None]
    a = x * (1 - power) / (x + DECAY)
    return (a + OVERLAP * power) @ weights, (x * ((a + OVERLAP * power - 1) ** 2 + power**2)) @ weights


def bare_products(limit: fl.Limit, solves: int) -> float:
    """Return the seconds of the products alone: rows of operators times paths and times responses, step by step."""
    nodes, paths, few = limit.stats.nodes, limit.stats.paths, limit.stats.response_paths
    history, tangents = jnp.ones((nodes, 5 * paths)), jnp.ones((nodes, nodes * few))

    @jax.jit
    def products(row):
        def step(row, _):
            return row * 0.999, (row @ history, row @ tangents)

        return jax.lax.scan(step, row, length=nodes)[1]

    row = jnp.ones((1, nodes))
    jax.block_until_ready(products(row))
    began = time.perf_counter()
    for _ in range(solves):
        jax.block_until_ready(products(row))
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    limit, (overlap, train) = solve(0), exact()
    errors = [
        np.abs(limit[name].value / value - 1).max() for name, value in (("overlap", overlap), ("train_error", train))
    ]
    seconds, bare = [], []
    for key in range(1, options.repeats + 1):
        began = time.perf_counter()
        solve(key)
        seconds.append(time.perf_counter() - began)
        bare.append(bare_products(limit, 2 * limit.replicas))
    print(f"largest relative error: overlap {errors[0]:.1e}, training error {errors[1]:.1e} (1e-8 asked for)")
    ratio = np.median(seconds) / np.median(bare)
    print(f"seconds of a solve: median {np.median(seconds):.3f} (0.13 asked for), {ratio:.1f} times its bare products")
    sys.exit(max(errors) > 1e-8)


if __name__ == "__main__":
    main()
