"""The O(1/d) bias of finite size: many trials at small dims against the limit.

    python benchmarks/finite_size.py --trials 16000

Gradient descent, 50 steps of 0.2 at init scale 1, as many samples as dimensions, all targets 1 (the fewer fluctuations,
the fewer trials): (mean of the runs - limit) d should not depend on d.
"""

import argparse

import numpy as np

import flowlimit as fl

PROBLEM = (
    fl.DiagonalLinear(1.0),
    fl.Regression(1.0, noise_var=0.1, target=fl.PointMass(1.0)),
    fl.GradientDescent(0.2, num_steps=50),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=16000)
    options = parser.parse_args()
    limit = fl.solve_dmft(*PROBLEM, rtol=3e-3, key=0)
    times = np.array([2.0, 4.0, 10.0])
    print("| dim | time | train: (runs - limit) d | test: (runs - limit) d |\n|---|---|---|---|")
    for dim in (25, 50, 100):
        runs = fl.simulate(*PROBLEM, dim=dim, trials=options.trials, key=1)
        one, two = limit.at(times), runs.at(times)
        for i, t in enumerate(times):
            cells = []
            for name in ("train_error", "test_error"):
                difference = dim * (two[name].value[i] - one[name].value[i])
                cells.append(f"{difference:.3f} +- {dim * np.hypot(one[name].stderr[i], two[name].stderr[i]):.3f}")
            print(f"| {dim} | {t:g} | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
