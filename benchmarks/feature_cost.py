"""What a power law of features costs beside two strata: CPU seconds of equal problems at equal accuracy.

    python benchmarks/feature_cost.py [--dim 1000000] [--rtol 0.02] [--cases linear network]

Each problem is solved twice in one process: the second time has no compilation.
"""

import argparse
import time

import flowlimit as fl

CASES = {
    "linear": (fl.Linear(), fl.GradientDescent(0.5, num_steps=100)),
    "network": (fl.DiagonalLinear(0.5), fl.GradientFlow(5.0)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dim", type=int, default=1_000_000)
    parser.add_argument("--rtol", type=float, default=0.02)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    arguments = parser.parse_args()
    laws = {
        "two strata": fl.Features(variance=fl.Empirical([1.0, 0.1]), target=fl.PointMass(1.0)),
        # targets of size 1 in both: a PowerLaw's own first targets are of size sqrt(dim), another problem for a network
        "power law": flat(fl.PowerLaw(arguments.dim, capacity=1.2, source=1.2)),
    }
    for case in arguments.cases:
        model, training = CASES[case]
        seconds = {}
        for name, law in laws.items():
            task = fl.Regression(1.0, noise_var=0.05, features=law)
            for _ in range(2):
                began = time.process_time()
                limit = fl.solve_dmft(model, task, training, rtol=arguments.rtol, key=0, throw=False)
                seconds[name] = time.process_time() - began
            error = float((limit.test_error_stderr / limit.test_error).max())
            count, stats = len(law.strata().probability), limit.stats
            print(
                f"{case}, {name}: {count} strata, {seconds[name]:.1f} CPU s, error {error:.2g}, {stats.nodes} nodes, "
                f"{stats.paths} paths, {stats.replicas} replicas {limit.result.message}",
                flush=True,
            )
        print(f"{case}: ratio {seconds['power law'] / seconds['two strata']:.2f}")


def flat(law):
    """Return the strata of a power law with targets that have the size 1."""

    class Flat(fl.FeatureLaw):
        def strata(self):
            own = law.strata()
            return own._replace(mean=own.mean * 0.0 + 1.0)

        def variances(self):
            return law.variances()

    return Flat()


if __name__ == "__main__":
    main()
