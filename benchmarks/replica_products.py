"""One replica of steps over the bare products that it is made of: what it spends besides them.

    python benchmarks/replica_products.py --num-steps 300

The products of a step with its history, and nothing else, in a compiled loop over the same steps and arrays: responses
with responses, G with itself and with W, the root with normals, and two passes over the directions Q.
"""

import argparse
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import flowlimit as fl
from flowlimit.dmft.control.draws import make_replica
from flowlimit.dmft.control.plan import make_plan
from flowlimit.dmft.engine.history import before, onto_history, times_all_tangents, times_history
from flowlimit.dmft.engine.march import march, start
from flowlimit.dmft.readout.grid import make_grid
from flowlimit.dmft.readout.measure import Measure
from flowlimit.dmft.sampling.paths import Counts
from flowlimit.numerics.compiling import compiled


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num-steps", type=int, default=300)
    parser.add_argument("--paths", type=int, default=512)
    parser.add_argument("--response-paths", type=int, default=128)
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    problem = fl.DiagonalLinear(0.3), fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    training = fl.GradientDescent(0.1, num_steps=options.num_steps)
    plan = make_plan(
        *problem,
        training,
        settings=fl.StepSolver(),
        key=jax.random.key(0),
        rtol=0.01,
        measure=Measure(()),
        memory_limit=16e9,
    )
    grid = make_grid(plan.clock, None, np.zeros(1), 1)
    replica = make_replica(plan, grid.nodes, Counts(options.paths, options.response_paths), 0)
    whole = lambda: march(replica, grid.blocks, plan.measure.count)
    bare = lambda: products(start(replica, plan.measure.count)[1], replica.paths.normals, jnp.array(grid.nodes))
    own, least = seconds(whole, options.times), seconds(bare, options.times)
    print(f"one replica {own:.2f} s, its products {least:.2f} s: a ratio of {own / least:.1f}")


@compiled
def products(rows, normals, count):
    """Return a number that depends on all products of so many steps."""
    ones = jnp.ones((1, rows.W.shape[0]))

    def one(node, total):
        row = before(ones + 1e-9 * total, node)
        total = total + jnp.sum(times_all_tangents(row, rows.response, node))
        for history in (rows.G, rows.W, normals):
            total = total + jnp.sum(times_history(row, history, node))
        for _ in range(2):
            onto = onto_history(jnp.ones((1, rows.Q.shape[1])) + 1e-9 * total, rows.Q, node)
            total = total + jnp.sum(times_history(onto, rows.Q, node))
        return total

    return lax.fori_loop(0, count, one, jnp.zeros(()))


def seconds(function, times: int) -> float:
    """Return the median of some calls, after one that compiles."""
    jax.block_until_ready(function())
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        jax.block_until_ready(function())
        taken.append(time.perf_counter() - began)
    return float(np.median(taken))


if __name__ == "__main__":
    main()
