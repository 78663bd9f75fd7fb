"""Exponents of power-law features, by limits: of linear models against theory, and of diagonal networks.

    python benchmarks/scaling_exponents.py samples     # linear models, t = infinity, 30 to 3000 samples, dim 10^6
    python benchmarks/scaling_exponents.py time        # linear models, two decades of time, more samples than are felt
    python benchmarks/scaling_exponents.py network     # diagonal networks over init scales, t = infinity
    python benchmarks/scaling_exponents.py map         # the same over init scale and weight decay, as a table

A linear model without noise falls like samples^-min(source - 1, 2 capacity) at t = infinity, and like
t^-((source - 1)/capacity) in time, where neither dim nor samples are felt. What bends these powers at the
ends: terms of relative size (samples/dim)^(capacity - 1), and the first features where 2 capacity is near source - 1.
Linear models at t = infinity are diagonal networks of init scale 10^5: `fl.fixed_point` has them in closed form.
"""

import argparse
import time

import numpy as np

import flowlimit as fl

SAMPLE_PAIRS = [(2.0, 2.0), (2.5, 3.0), (3.0, 4.0), (1.75, 7.0)]
TIME_PAIRS = [(1.5, 2.5), (1.2, 2.2), (2.0, 3.0), (2.0, 2.5)]
NETWORK_PAIRS = [(1.5, 2.0), (2.0, 2.0), (2.0, 3.0), (2.0, 6.0)]
MAP_PAIRS = [(2.0, 2.0), (1.5, 5.0)]
MAP_SCALES, MAP_DECAYS = (10.0, 0.1, 0.001), (0.0, 1e-7, 1e-3)
LAZY = 1e5


def task_of(dim, capacity, source, aspect_ratio=1.0):
    return fl.Regression(aspect_ratio, noise_var=0.0, features=fl.PowerLaw(dim, capacity=capacity, source=source))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", choices=("samples", "time", "network", "map"))
    parser.add_argument("--dim", type=int, default=1_000_000)
    parser.add_argument("--horizon", type=float, default=1e3)
    parser.add_argument("--pairs", type=int, default=4, help="how many of the pairs of capacity and source")
    parser.add_argument("--points", type=int, default=21)
    parser.add_argument("--rtol", type=float, default=1e-2)
    parser.add_argument("--time-limit", type=float)
    arguments = parser.parse_args()
    {"samples": samples, "time": in_time, "network": network, "map": exponent_map}[arguments.which](arguments)


def samples(arguments):
    at = np.geomspace(30, 3000, arguments.points) / arguments.dim
    for capacity, source in SAMPLE_PAIRS[: arguments.pairs]:
        began = time.process_time()
        problem = fl.DiagonalLinear(LAZY), task_of(arguments.dim, capacity, source)
        found = fl.scaling(fl.fixed_point, *problem, along="aspect_ratio", at=at, tolerance=0.05)
        report(f"capacity {capacity}, source {source}", found, min(source - 1, 2 * capacity), began)


def in_time(arguments):
    for capacity, source in TIME_PAIRS[: arguments.pairs]:
        began = time.process_time()
        times = np.geomspace(arguments.horizon / 100.0, arguments.horizon, arguments.points)
        problem = fl.Linear(), task_of(arguments.dim, capacity, source), fl.GradientFlow(arguments.horizon)
        options = {"rtol": arguments.rtol, "save_at": times, "time_limit": arguments.time_limit, "throw": False}
        limit = fl.solve_dmft(*problem, key=0, **options)
        if len(limit.times):
            found = fl.scaling(limit, along="time", tolerance=0.05)
            report(f"capacity {capacity}, source {source}", found, (source - 1) / capacity, began)
        print(f"  {limit.result.code} {limit.result.message}; {limit.stats.nodes} nodes, {limit.stats.paths} paths")


def network(arguments):
    """The natural init scale is dim^(1/4): the square is that of the teacher's first weights."""
    at = np.geomspace(30, 3000, arguments.points) / arguments.dim
    for capacity, source in NETWORK_PAIRS[: arguments.pairs]:
        for relative in (10.0, 1.0, 0.1, 0.01, 1e-3):
            began = time.process_time()
            problem = fl.DiagonalLinear(relative * arguments.dim**0.25), task_of(arguments.dim, capacity, source)
            found = fl.scaling(fl.fixed_point, *problem, along="aspect_ratio", at=at, tolerance=0.05)
            label = f"capacity {capacity}, source {source}, init scale {relative:g} dim^(1/4)"
            report(label, found, min(source - 1, 2 * capacity), began)


def exponent_map(arguments):
    """Print exponents in samples with bars; init scales are in units of dim^(1/4), decays in those of sqrt(dim)."""
    dim, at = arguments.dim, np.geomspace(30, 3000, arguments.points) / arguments.dim
    print("| capacity, source | init scale | " + " | ".join(f"weight decay {decay:g}" for decay in MAP_DECAYS) + " |")
    print("|---" * (2 + len(MAP_DECAYS)) + "|")
    for pair in MAP_PAIRS[: arguments.pairs]:
        for scale in MAP_SCALES:
            row = [f"{pair[0]:g}, {pair[1]:g}", f"{scale:g}"]
            for decay in MAP_DECAYS:
                model = fl.DiagonalLinear(scale * dim**0.25, weight_decay=decay * dim**0.5)
                row.append(
                    told(fl.scaling(fl.fixed_point, model, task_of(dim, *pair), along="aspect_ratio", at=at), dim)
                )
            print("| " + " | ".join(row) + " |", flush=True)


def told(found, dim):
    """Return exponents with their bars and samples, or the local slopes at the ends where there is no power."""
    if not found.powers:
        return f"no power: slopes {found.slope[0]:.2f} to {found.slope[-1]:.2f}"
    return "; ".join(
        f"{one.exponent:.3f} ± {one.stderr:.3f} ({one.start * dim:.0f} to {one.stop * dim:.0f})" for one in found.powers
    )


def report(label, found, theory, began):
    ends = ", ".join(f"{found.slope[i]:.3f}" for i in (0, len(found.x) // 2, -1))
    seconds = time.process_time() - began
    ranges = "; ".join(
        f"{one.start:.3g} to {one.stop:.3g}: {one.exponent:.4f} +- {one.stderr:.4f}" for one in found.powers
    )
    print(
        f"{label}: linear theory -{theory:.4f}; {ranges or 'no power'}; local slopes {ends}; {seconds:.0f} CPU s",
        flush=True,
    )


if __name__ == "__main__":
    main()
