"""Are the reported time errors of flows honest? Random problems against runs a hundred thousand times tighter.

    python benchmarks/flow_accuracy.py [--problems 30] [--rtol 1e-6] [--key 0]

Draws init scales from 1e-3 to 10, aspect ratios from 0.3 to 3, horizons from 1 to 1000, with and without weight decay
and noise, and prints the largest deviation over the reported error for each. Below 1 is honest; far below, wasteful.
"""

import argparse

import diffrax
import numpy as np

import flowlimit as fl

REFERENCE = diffrax.Dopri8()


def random_problem(rng):
    init_scale = 10.0 ** rng.uniform(-3.0, 1.0)
    weight_decay = rng.choice([0.0, rng.uniform(0.0, 0.3)])
    horizon = min(
        10.0 ** rng.uniform(0.0, 3.0), 3000.0 / init_scale**2
    )  # the reference solver is not made for stiffness
    task = fl.Regression(rng.uniform(0.3, 3.0), rng.choice([0.0, 0.01, 0.1]), fl.Bernoulli(0.1))
    return fl.DiagonalLinear(init_scale, weight_decay), task, fl.GradientFlow(horizon)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=30)
    parser.add_argument("--rtol", type=float, default=1e-6)
    parser.add_argument("--key", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.key)
    ratios = []
    for number in range(options.problems):
        problem = random_problem(rng)
        exact = fl.simulate(*problem, dim=80, trials=1, key=number, rtol=1e-11, solver=REFERENCE)
        runs = fl.simulate(*problem, dim=80, trials=1, key=number, rtol=options.rtol)
        off = [np.abs(runs[name].value - exact[name].value) / runs.time_error[name] for name in runs.time_error]
        ratios.append(float(np.max(off)))
        print(f"{ratios[-1]:5.2f}  {problem[0]}, {problem[2]}, {runs.stats['solver']}, {runs.stats['steps']} steps")
    print(f"deviation over reported error: largest {max(ratios):.2f}, median {np.median(ratios):.2f}")


if __name__ == "__main__":
    main()
