"""What a power law of features costs beside two strata: CPU seconds of like problems at equal accuracy.

    python benchmarks/feature_cost.py [--dim 1000000] [--rtol 0.02] [--cases linear network]

Each problem is solved twice in one process: the second time has no compilation. The first weights of a power law's
teacher are of size sqrt(dim), so that a network has the init scale dim^(1/4) and the time 1/sqrt(dim) in its units.
"""

import argparse
import time
from functools import partial

import flowlimit as fl


def cases(dim):
    """Return model, training and features, of two strata and of a power law."""
    two = fl.Features(variance=fl.Empirical([1.0, 0.1]), target=fl.PointMass(1.0))
    power = fl.PowerLaw(dim, capacity=1.2, source=1.5)
    descent = fl.GradientDescent(0.5, num_steps=40)
    return {
        "linear": [("two strata", fl.Linear(), descent, two), ("power law", fl.Linear(), descent, power)],
        "network": [
            ("two strata", fl.DiagonalLinear(0.5), fl.GradientFlow(5.0), two),
            ("power law", fl.DiagonalLinear(0.5 * dim**0.25), fl.GradientFlow(5.0 / dim**0.5), power),
        ],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dim", type=int, default=1_000_000)
    parser.add_argument("--rtol", type=float, default=0.02)
    parser.add_argument("--cases", nargs="+", default=["network", "linear"])
    arguments = parser.parse_args()
    for case in arguments.cases:
        seconds = {}
        for name, model, training, law in cases(arguments.dim)[case]:
            task = fl.Regression(1.0, noise_var=0.05, features=law)
            solve = partial(fl.solve_dmft, model, task, training, rtol=arguments.rtol, key=0, throw=False)
            solve()  # compiles
            began = time.process_time()
            limit = solve()
            seconds[name] = time.process_time() - began
            error = float((limit.test_error_stderr / limit.test_error).max())
            count, stats = len(law.strata().probability), limit.stats
            print(
                f"{case}, {name}: {count} strata, {seconds[name]:.1f} CPU s, error {error:.2g}, {stats.nodes} nodes, "
                f"{stats.paths} paths per stratum, {stats.replicas} replicas {limit.result.message}",
                flush=True,
            )
        print(f"{case}: ratio {seconds['power law'] / seconds['two strata']:.2f}", flush=True)


if __name__ == "__main__":
    main()
