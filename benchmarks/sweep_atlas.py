"""An atlas of fixed points and rates: a hundred thousand of them into one store, which is then read back lazily.

    python benchmarks/sweep_atlas.py atlas.zarr [--side 40] [--workers 2]

Axes: init scale, aspect ratio, noise and sparsity. Stopped or killed, the same command goes on. At the end some points,
chosen by a fixed key, are computed again by themselves and compared.
"""

import argparse
import time

import numpy as np

import flowlimit as fl
from flowlimit.sweeps.local import local_cluster

CHECKED = 20


def axes(side):
    return {
        "model.init_scale": np.geomspace(0.01, 10.0, side),
        "task.aspect_ratio": np.linspace(0.1, 2.0, side),
        "task.noise_var": np.array([0.0, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0]),
        "task.target.probability": np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0]),
    }


def check(table):
    """Compute some points alone: the largest relative difference."""
    where = np.random.default_rng(0).integers(len(table.points["point"]), size=CHECKED)
    worst = 0.0
    for i in where:
        here = table.points.isel(point=int(i))
        scale, ratio, noise, probability = (float(here[name]) for name in table.problem["over"])
        task = fl.Regression(ratio, noise_var=noise, target=fl.Bernoulli(probability))
        known = float(fl.fixed_point(fl.DiagonalLinear(scale), task).test_error)
        worst = max(worst, abs(float(here["test_error"]) - known) / max(known, 1e-15))
    return worst


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("store")
    parser.add_argument("--side", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    from distributed import Client

    model, task = fl.DiagonalLinear(0.3), fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    began = time.perf_counter()
    with local_cluster(arguments.workers) as cluster, Client(cluster) as client:
        over = axes(arguments.side)
        table = fl.sweep(fl.fixed_point, model, task, over=over, store=arguments.store, executor=client, progress=True)
    seconds = time.perf_counter() - began
    print(table)
    print(f"{seconds:.0f} s; {float(table.seconds.mean()) * 1e3:.2f} ms a point of one worker's time")
    began = time.perf_counter()
    lazy = fl.open_sweep(arguments.store).points["test_error"].isel(point=slice(0, 5)).to_numpy()
    print(f"first five test errors, of all that is stored: {lazy}, {time.perf_counter() - began:.2f} s")
    worst = check(table)
    print(f"{CHECKED} points computed alone: largest relative difference {worst:.1e}")
    raise SystemExit(worst > 1e-9)


if __name__ == "__main__":
    main()
