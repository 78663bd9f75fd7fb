"""How much of the scatter between runs is chance in the composition of data, and how much control variates remove.

For six problems: the variance over trials of both errors with balanced draws, relative to independent draws; and what
is left of it after regression on quantities with known means: the training error at time 0, and both errors of the
linear model on the same data. Averages over saved times, corrected for the number of fitted coefficients.

    python benchmarks/variance_of_runs.py --trials 100
"""

import argparse

import numpy as np

import flowlimit as fl

FLOW, STEPS = fl.GradientFlow(20.0), fl.GradientDescent(0.2, num_steps=200)
SPARSE = fl.Bernoulli(0.1)
PROBLEMS = {
    "README": (fl.DiagonalLinear(0.3), fl.Regression(0.5, noise_var=0.01, target=SPARSE), FLOW),
    "small init scale": (fl.DiagonalLinear(0.01), fl.Regression(0.5, noise_var=0.01, target=SPARSE), FLOW),
    "noisy, weight decay": (
        fl.DiagonalLinear(0.3, weight_decay=0.1), fl.Regression(2.0, noise_var=0.5, target=SPARSE), STEPS,
    ),
    "Gaussian target": (fl.DiagonalLinear(1.0), fl.Regression(0.5, noise_var=0.1, target=fl.Normal()), STEPS),
    "linear, Gaussian init": (fl.Linear(init_scale=1.0), fl.Regression(0.8, noise_var=0.1, target=fl.Normal()), STEPS),
    "random scales, depth 3": (
        fl.DiagonalLinear(fl.Empirical([0.3, 0.6]), depth=3),
        fl.Regression(0.5, noise_var=0.01, target=fl.SparseRademacher(0.2)), STEPS,
    ),
}  # fmt: skip
NAMES = ("train_error", "test_error")


def variance(values, controls=()):
    """Return the variance over trials that is left by a regression on controls, mean over times after the first."""
    centred = values[:, 1:] - values[:, 1:].mean(axis=0)
    left = []
    for time in range(centred.shape[1]):
        columns = [control[:, min(time + 1, control.shape[1] - 1)] for control in controls]
        columns = [column - column.mean() for column in columns if np.ptp(column) > 1e-12]
        used = np.stack([np.zeros(len(values)), *columns], axis=1)
        rest = centred[:, time] - used @ np.linalg.lstsq(used, centred[:, time])[0]
        left.append(rest @ rest / (len(values) - 1 - len(columns)))
    return np.mean(left)


def row(problem, dim, trials):
    """Return variances relative to independent draws, for both errors."""
    model, task, training = problem
    options = {"dim": dim, "trials": trials, "key": 1}
    plain = fl.simulate(model, task, training, draws="independent", **options)
    own, linear = fl.simulate([model, fl.Linear()], task, training, draws="balanced", save_at=plain.times, **options)
    first = own.values["train_error"][:, :1]
    known = [linear.values[name] for name in NAMES]
    for name in NAMES:
        whole = variance(plain.values[name])
        yield [variance(own.values[name], controls) / whole for controls in ((), [first], [first, *known])]


def main():
    """Print one row per problem."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dim", type=int, default=400)
    parser.add_argument("--trials", type=int, default=100)
    given = parser.parse_args()
    print(f"variance relative to independent draws, dim {given.dim}, {given.trials} trials")
    print("| problem | error | balanced | and error at time 0 | and linear model |\n|---|---|---|---|---|")
    for name, problem in PROBLEMS.items():
        for curve, ratios in zip(NAMES, row(problem, given.dim, given.trials), strict=True):
            print(f"| {name} | {curve} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |", flush=True)


if __name__ == "__main__":
    main()
