"""Are the reported time errors of flows honest? Random problems against runs far tighter.

    python benchmarks/flow_accuracy.py [--problems 40] [--rtol 1e-6] [--key 0]

Draws depths 2 to 5, init scales from 1e-3 to 10 (0.1 to 1 beyond depth 2), aspect ratios from 0.3 to 3, horizons from 1
to 1000, targets of size 0.01 to 100, dense and sparse saves, with and without weight decay and noise. Prints for each
the largest deviation over the reported error, over all curves and times. Below 1 is honest; far below, wasteful.
"""

import argparse

import diffrax
import numpy as np

import flowlimit as fl

REFERENCE = diffrax.Dopri8()


def random_problem(rng):
    depth = int(rng.choice([2, 2, 3, 4, 5]))
    init_scale = 10.0 ** (rng.uniform(-3.0, 1.0) if depth == 2 else rng.uniform(-1.0, 0.0))
    weight_decay = rng.choice([0.0, rng.uniform(0.0, 0.3)])
    size = 10.0 ** rng.choice([0.0, rng.uniform(-2.0, 2.0)]) if depth == 2 else 1.0
    fastest = max(init_scale**2, size)
    horizon = min(10.0 ** rng.uniform(0.0, 3.0), 3000.0 / fastest)  # the reference solver is not made for stiffness
    noise_var = rng.choice([0.0, 0.01, 0.1]) * size**2
    task = fl.Regression(rng.uniform(0.3, 3.0), noise_var=noise_var, target=fl.Bernoulli(0.1, value=size))
    save_at = None if rng.random() < 0.7 else horizon * np.array([0.0, 0.25, 1.0])
    return (
        fl.DiagonalLinear(init_scale, weight_decay=weight_decay, depth=depth),
        task,
        fl.GradientFlow(horizon),
    ), save_at


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=40)
    parser.add_argument("--rtol", type=float, default=1e-6)
    parser.add_argument("--key", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.key)
    ratios = []
    for number in range(options.problems):
        problem, save_at = random_problem(rng)
        settings = {"dim": 80, "trials": 1, "key": number, "save_at": save_at, "throw": False}
        exact = fl.simulate(*problem, rtol=1e-10, solver=REFERENCE, **settings)
        runs = fl.simulate(*problem, rtol=options.rtol, **settings)
        if exact.result.message or runs.result.message:
            print(f"    -  {exact.result} {runs.result}")
            continue
        # The reference has an error too, and so do twelve digits of arithmetic.
        known = {k: runs.time_error[k] + exact.time_error[k] + 1e-12 * np.abs(runs[k].value[0]) for k in runs.curves}
        off = {k: np.max(np.abs(runs[k].value - exact[k].value) / (known[k] + 1e-300)) for k in runs.curves}
        worst = max(off, key=lambda name: off[name])
        ratios.append(float(off[worst]))
        print(f"{ratios[-1]:5.2f}  {worst}: {problem[0]}, {problem[2]}, {runs.stats.solver}")
    print(f"deviation over reported error: largest {max(ratios):.2f}, median {np.median(ratios):.2f}")


if __name__ == "__main__":
    main()
