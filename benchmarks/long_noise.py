"""Many noisy steps: seconds, memory, and the distance from runs and from the recursion of a linear model.

    python benchmarks/long_noise.py network --num-steps 10000
    python benchmarks/long_noise.py linear --num-steps 1000

``network``: the diagonal network with batches of .1, with Langevin noise and with fresh labels; the largest deviation
from runs at dim 2000, 10 trials, at 20 steps spread over the decades, in combined standard errors. ``linear``: `Linear`
against the recursion of its second moments on the Marchenko-Pastur spectrum. Each solve has a separate process.
"""

import argparse
import sys

import numpy as np
from alone import alone

import flowlimit as fl
from flowlimit.numerics.marchenko_pastur import marchenko_pastur

RATIO, SIZE, BATCH, TEMPERATURE, LABELS = 2.0, 0.05, 0.1, 1e-3, 0.3
NOISES = {
    "batches of .1": lambda steps: fl.StochasticGradientDescent(BATCH, step_size=SIZE, num_steps=steps),
    "Langevin": lambda steps: fl.Langevin(TEMPERATURE, step_size=SIZE, num_steps=steps),
    "fresh labels": lambda steps: fl.StochasticGradientDescent(
        1.0, step_size=SIZE, num_steps=steps, label_noise=LABELS
    ),
}
MOVES = {  # of the mean square of w - w* along an eigenvector x, from the training error
    "batches of .1": lambda x, train: SIZE**2 * x / RATIO * (1.0 / BATCH - 1.0) * train,
    "Langevin": lambda x, train: 2.0 * TEMPERATURE * SIZE,
    "fresh labels": lambda x, train: SIZE**2 * x / RATIO * LABELS**2,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["network", "linear"])
    parser.add_argument("--num-steps", type=int, default=10_000)
    parser.add_argument("--noises", nargs="+", choices=list(NOISES), default=list(NOISES))
    parser.add_argument("--rtol", type=float, default=0.1)
    parser.add_argument("--dim", type=int, default=2000)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--memory-limit", type=float, default=8e9)
    parser.add_argument("--time-limit", type=float, default=3600.0)
    options = parser.parse_args()
    sys.exit({"network": _network, "linear": _linear}[options.what](options))


def _times(training, num_steps: int) -> np.ndarray:
    return training.clock.times_at(np.unique(np.rint(np.geomspace(1.0, num_steps, 20))))


def _solve(problem, name: str, options: argparse.Namespace) -> fl.Limit:
    training = NOISES[name](options.num_steps)
    limits = {"memory_limit": options.memory_limit, "time_limit": options.time_limit}
    times, (model, task) = _times(training, options.num_steps), problem
    return fl.solve_dmft(model, task, training, rtol=options.rtol, save_at=times, throw=False, **limits)


def _network(options: argparse.Namespace) -> bool:
    problem = fl.DiagonalLinear(0.3), fl.Regression(RATIO, noise_var=0.01, target=fl.Bernoulli(0.1))
    print("| noise | outcome | seconds | peak, GB | largest bar | runs, seconds | deviation, standard errors |")
    print("|---|---|---|---|---|---|---|")
    worst = 0.0
    for name in options.noises:
        limit, seconds, peak = alone(_solve, problem, name, options)
        bar = np.max(limit.test_error_stderr / limit.test_error) if limit.replicas else np.nan
        runs, took, _ = alone(_run, problem, name, options)
        far = fl.compare(limit, runs, names=["train_error", "test_error"]).worst[2] if limit.replicas else np.nan
        worst = max(worst, far)
        cells = f"{limit.result.code.value} | {seconds:.0f} | {peak / 2**10:.1f} | {bar:.1%} | {took:.0f} | {far:.1f}"
        print(f"| {name} | {cells} |", flush=True)
    return not worst < 4.0


def _run(problem, name: str, options: argparse.Namespace) -> fl.Runs:
    training, (model, task) = NOISES[name](options.num_steps), problem
    times = _times(training, options.num_steps)
    return fl.simulate(model, task, training, save_at=times, dim=options.dim, trials=options.trials, key=1)


def _linear(options: argparse.Namespace) -> bool:
    problem = fl.Linear(), fl.Regression(RATIO, noise_var=0.0, target=fl.Normal())
    print("| noise | outcome | paths | seconds | peak, GB | largest relative error | largest bar |")
    print("|---|---|---|---|---|---|---|")
    worst = 0.0
    for name in options.noises:
        limit, seconds, peak = alone(_solve, problem, name, options)
        exact = _recursion(MOVES[name], np.rint(limit.times / SIZE).astype(int), options.num_steps)
        error, bar = np.max(np.abs(limit.test_error / exact - 1.0)), np.max(limit.test_error_stderr / limit.test_error)
        worst = max(worst, error / (4.0 * bar + 1e-6))
        cells = f"{limit.stats.paths} | {seconds:.0f} | {peak / 2**10:.1f} | {error:.1e} | {bar:.1e}"
        print(f"| {name} | {limit.result.code.value} | {cells} |", flush=True)
    return worst > 1.0


def _recursion(move, steps: np.ndarray, num_steps: int) -> np.ndarray:
    """Return test errors at given steps from D(x), the mean square of w - w* along an eigenvector."""
    x, weights = marchenko_pastur(RATIO)
    D, errors = np.ones_like(x), []
    for _ in range(num_steps + 1):
        errors.append(D @ weights)
        D = (1.0 - SIZE * x) ** 2 * D + move(x, (x * D) @ weights)
    return np.array(errors)[steps]


if __name__ == "__main__":
    main()
