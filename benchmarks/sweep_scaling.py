"""How well two workers share a sweep, and what a point costs beside its own work.

    python benchmarks/sweep_scaling.py [--fixed-points 2000] [--solves 200] [--workers 2]

One process with all cores against a local cluster with the same cores in all, warm (a first sweep has compiled what is
needed, on every worker). The scheduler's overhead a point is what a sweep of a function that does nothing takes.
"""

import argparse
import math
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import flowlimit as fl
from flowlimit.sweeps.local import local_cluster

MODEL = fl.DiagonalLinear(init_scale=0.3)
TASK = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
TRAINING = fl.GradientDescent(step_size=0.2, num_steps=20)
WARM = 4
"""Points in each of the blocks that are computed before the clock runs."""


def nothing(model, task, *, number):
    return number


def timed(folder, name, executor, *problem, **options):
    began = time.perf_counter()
    table = fl.sweep(*problem, store=f"{folder}/{name}.zarr", executor=executor, **options)
    seconds = time.perf_counter() - began
    assert table.missing == 0
    assert not table.failures
    return seconds, table


def sweeps(fixed_points: int, solves: int) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    side = math.isqrt(fixed_points)
    grid = {
        "model.init_scale": np.geomspace(0.05, 5.0, side),
        "task.aspect_ratio": np.linspace(0.2, 0.9, -(-fixed_points // side)),
    }
    scales = {"model.init_scale": np.geomspace(0.5, 1.5, solves)}
    yield f"{fixed_points} fixed points", (fl.fixed_point, MODEL, TASK), {"over": grid}
    yield f"{solves} limits at 30%", (fl.solve_dmft, MODEL, TASK, TRAINING), {"over": scales, "rtol": 0.3}
    yield f"{fixed_points} of nothing", (nothing, MODEL, TASK), {"over": {"number": range(fixed_points)}}


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--fixed-points", type=int, default=2000)
    parser.add_argument("--solves", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="part of the name of the sweeps to run")
    arguments = parser.parse_args()
    from distributed import Client

    print("| sweep | one process (s) | cluster (s) | efficiency | ms a point (cluster) |")
    print("|---|---|---|---|---|")
    with (
        tempfile.TemporaryDirectory() as folder,
        local_cluster(arguments.workers) as cluster,
        Client(cluster) as client,
    ):
        for name, problem, options in sweeps(arguments.fixed_points, arguments.solves):
            if arguments.only not in name:
                continue
            few = {address: values[: 2 * WARM] for address, values in options["over"].items()}
            for executor in (None, client):  # every worker compiles
                fl.sweep(*problem, **options | {"over": few, "block_size": WARM}, executor=executor)
            alone, known = timed(folder, f"{name} alone", None, *problem, **options)
            shared, table = timed(folder, f"{name} shared", client, *problem, **options)
            number = "value" if problem[0] is nothing else "test_error"
            assert np.allclose(table[number], known[number], rtol=1e-9, equal_nan=True)
            points = int(np.prod(known[number].shape[:2] if "fixed" in name else known[number].shape[:1]))
            each = shared / points * 1e3
            print(f"| {name} | {alone:.1f} | {shared:.1f} | {alone / shared:.2f} | {each:.2f} |", flush=True)


if __name__ == "__main__":
    main()
