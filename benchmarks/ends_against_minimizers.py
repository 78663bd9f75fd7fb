"""Fixed points against finite-size minimisers: three cases, five problems each.

    python benchmarks/ends_against_minimizers.py --dim 1500 --trials 20

Deviations are in standard errors of the mean over data sets; finite size leaves a bias of order 1/dim besides.
"""

import argparse
import sys

import numpy as np

import flowlimit as fl
from flowlimit.results.spread import standard_error

PROBLEMS = [
    *((a, 0.1, d, n, p) for a, d, n, p in [(0.3, 0.5, 0.01, 0.1), (0.3, 2.0, 0.1, 0.3), (1.0, 0.3, 0.0, 0.05)]),
    *((0.3, decay, 0.5, 0.05, 0.2) for decay in (0.05, 0.4)),
    *((0.3, 0.0, d, n, 0.1) for d, n in [(1.3, 0.01), (1.5, 0.1), (2.0, 0.01), (3.0, 0.5), (5.0, 0.1)]),
    *((a, 0.0, d, n, p) for a, d, n, p in [(0.01, 0.5, 0.01, 0.1), (0.1, 0.5, 0.01, 0.1), (0.3, 0.5, 0.01, 0.1)]),
    *((a, 0.0, d, n, p) for a, d, n, p in [(1.0, 0.8, 0.05, 0.3), (10.0, 0.3, 0.1, 0.2)]),
]
"""Init scale, weight decay, aspect ratio, noise variance, sparsity."""


def against_data(point: fl.FixedPoint, model: fl.Model, task: fl.Task, options: argparse.Namespace) -> tuple:
    """Return training and test errors: the fixed point's, minimisers' mean and standard error, and the deviation."""
    data = (fl.draw(task, dim=options.dim, key=0, trial=i) for i in range(options.trials))
    found = np.array([(m.train_error, m.test_error) for m in (fl.minimizer(model, one) for one in data)])
    mean, stderr = found.mean(axis=0), standard_error(found)
    theory = np.array([float(point.train_error), float(point.test_error)])
    return theory, mean, stderr, np.abs(mean - theory) / np.maximum(stderr, 1e-12)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dim", type=int, default=1500)
    parser.add_argument("--trials", type=int, default=20)
    options = parser.parse_args()
    print(
        "| case | init scale | decay | aspect ratio | noise | sparsity | test error | runs | deviation (train, test) |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    worst = 0.0
    for scale, decay, ratio, noise, sparsity in PROBLEMS:
        model, task = (
            fl.DiagonalLinear(scale, weight_decay=decay),
            fl.Regression(ratio, noise_var=noise, target=fl.Bernoulli(sparsity)),
        )
        point = fl.fixed_point(model, task)
        theory, mean, stderr, deviation = against_data(point, model, task, options)
        worst = max(worst, deviation.max())
        print(
            f"| {point.case} | {scale:g} | {decay:g} | {ratio:g} | {noise:g} | {sparsity:g} | {theory[1]:.6f} | "
            f"{mean[1]:.5f} +- {stderr[1]:.5f} | {deviation[0]:.1f}, {deviation[1]:.1f} |",
            flush=True,
        )
    print(f"worst deviation: {worst:.2f} standard errors (asked for: 4)")
    sys.exit(worst > 4.0)


if __name__ == "__main__":
    main()
