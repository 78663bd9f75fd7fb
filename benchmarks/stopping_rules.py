"""Choosing a model and a stopping time by the estimated test error, beside cross-validation, a hold-out set and GCV.

    python benchmarks/stopping_rules.py --sets 100 --out stopping_rules.jsonl    # an hour on one core
    python benchmarks/stopping_rules.py --sets 10 --sizes 100x200                # a minute
    python benchmarks/stopping_rules.py --cost --sets 5 --sizes 200x400          # what an estimate costs, seconds

Data are drawn, so that the test error of every model at every time is known. A rule is judged by the true test error of
the weights that it ends with, over the smallest one of all models and times that were trained on all samples. Its cost
is its CPU time over that of training all models once, with the weights of all times, programs compiled before. With
``--cost``, that of the estimate of one model over a bare training, which keeps no weights.

- estimate: `fl.select`, 8 probes, or 32; the weights are those of the run that was estimated.
- folds: cross-validation with 5 folds, and a training on all samples.
- hold-out: 20% of the samples choose; the weights are those of the others (hold-out), or of a second training on all
  samples (hold-out, again).
- gcv: generalised cross-validation from the singular values of X, for the linear model.
"""

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import own_data

import flowlimit as fl

FOLDS = 5
PROBES = (8, 32)
KINDS = {
    "stopping": [fl.DiagonalLinear(0.3)],
    "init scale and stopping": [fl.DiagonalLinear(scale) for scale in (0.1, 0.3, 1.0)],
    "linear, stopping": [fl.Linear()],
}
STEPS = own_data.STEPS


class Problem(NamedTuple):
    """Data of which the truth is known, and what is to be trained on them."""

    X: np.ndarray
    y: np.ndarray
    models: list
    training: fl.Training
    truth: Callable[[np.ndarray], np.ndarray]


def train(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """Return the weights of all models at all times, of shape (models, times, dim)."""
    clock = problem.training.clock
    runs = fl.simulate(
        problem.models,
        fl.Dataset(problem.X[rows], problem.y[rows]),
        problem.training,
        weights_at=clock.times_at(clock.default_saves()),
    )
    kept = [run.weights for run in runs if run.weights is not None]  # all were asked to
    return np.stack([weights[0] for weights in kept])


def left_out_errors(problem: Problem, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Train without some rows; return the weights, and the mean squared errors on these rows."""
    weights = train(problem, np.setdiff1d(np.arange(len(problem.y)), rows))
    return weights, ((weights @ problem.X[rows].T - problem.y[rows]) ** 2).mean(axis=-1)


def smallest(errors: np.ndarray) -> tuple[int, ...]:
    return tuple(map(int, np.unravel_index(errors.argmin(), errors.shape)))


def by_estimate(problem: Problem, rng: np.random.Generator, probes: int = PROBES[0]) -> np.ndarray:
    data, key = fl.Dataset(problem.X, problem.y), int(rng.integers(2**31))
    return fl.select(problem.models, data, problem.training, probes=probes, key=key).weights


def by_folds(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    folds = np.array_split(rng.permutation(len(problem.y)), FOLDS)
    errors = np.mean([left_out_errors(problem, rows)[1] for rows in folds], axis=0)
    return train(problem, np.arange(len(problem.y)))[smallest(errors)]


def by_hold_out(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    weights, errors = left_out_errors(problem, rng.permutation(len(problem.y))[: len(problem.y) // FOLDS])
    return weights[smallest(errors)]


def by_hold_out_again(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    _, errors = left_out_errors(problem, rng.permutation(len(problem.y))[: len(problem.y) // FOLDS])
    return train(problem, np.arange(len(problem.y)))[smallest(errors)]


def by_gcv(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    """Mean squared residual over (1 - tr H/n)^2, with H = 1 - (1 - step K)^t, K = X X^T d/n."""
    del rng
    samples, dim = problem.X.shape
    assert isinstance(problem.training, fl.GradientDescent)
    values, vectors = np.linalg.eigh(problem.X @ problem.X.T * dim / samples)
    kept = (1.0 - float(problem.training.step_size) * values) ** np.arange(STEPS + 1)[:, None]
    errors = ((kept * (problem.y @ vectors)) ** 2).mean(axis=1) / kept.mean(axis=1) ** 2
    return train(problem, np.arange(samples))[0, errors.argmin()]


RULES = {
    "estimate": by_estimate,
    "estimate, 32 probes": partial(by_estimate, probes=PROBES[1]),
    "folds": by_folds,
    "hold-out": by_hold_out,
    "hold-out, again": by_hold_out_again,
    "gcv": by_gcv,
}


def make_problem(seed: int, samples: int, root: np.ndarray, models: list, step: float, noise_var: float) -> Problem:
    rng = np.random.default_rng([seed, samples, len(root), 1])
    X, y, w_star = own_data.draw(rng, samples, root, "normal", noise_var)
    truth = lambda weights: (((weights - w_star) @ root) ** 2).mean(axis=-1) + noise_var
    return Problem(X, y, models, fl.GradientDescent(step, num_steps=STEPS), truth)


def judge(problem: Problem, rules: list[str], seed: int) -> dict[str, tuple[float, float]]:
    """Return for each rule its test error over the best one, and its CPU time over that of training once."""
    began = time.process_time()
    path = train(problem, np.arange(len(problem.y)))
    once, best = time.process_time() - began, problem.truth(path).min()
    found = {}
    for name in rules:
        began = time.process_time()
        weights = RULES[name](problem, np.random.default_rng(seed))
        found[name] = problem.truth(weights) / best, (time.process_time() - began) / once
    return found


def campaign(arguments: argparse.Namespace) -> Iterator[dict]:
    """Yield one line for each kind of problem and rule."""
    for (samples, dim), kind, covariance in itertools.product(arguments.sizes, KINDS, arguments.covariances):
        root, step = own_data.make_root(covariance, dim), own_data.STEP_SIZES[covariance]
        rules = [name for name in RULES if name != "gcv" or kind.startswith("linear")]
        seeds = range(arguments.first_seed - 1, arguments.first_seed + arguments.sets)
        problems = (make_problem(seed, samples, root, KINDS[kind], step, arguments.noise_var) for seed in seeds)
        found = [judge(one, rules, seed) for one, seed in zip(problems, seeds, strict=True)][1:]  # the first compiles
        for rule in rules:
            over, cost = np.array([one[rule] for one in found]).T
            yield {
                **{"samples": samples, "dim": dim, "kind": kind, "covariance": covariance, "rule": rule},
                **{"sets": len(found), "first_seed": arguments.first_seed, "noise_var": arguments.noise_var},
                **{"median": float(np.median(over)), "mean": float(over.mean()), "worst": float(over.max())},
                **{"ninety": float(np.quantile(over, 0.9)), "cost": float(np.median(cost))},
            }


def costs(arguments: argparse.Namespace) -> Iterator[dict]:
    """Yield for each size what an estimate costs in bare trainings, by the number of probes: medians over data sets."""
    model = KINDS["stopping"][0]
    for samples, dim in arguments.sizes:
        found = []
        for seed in range(arguments.first_seed - 1, arguments.first_seed + arguments.sets):  # the first compiles
            problem = make_problem(
                seed, samples, np.eye(dim), [model], own_data.STEP_SIZES["isotropic"], arguments.noise_var
            )
            data = fl.Dataset(problem.X, problem.y)
            bare = cpu_time(lambda data=data, problem=problem: fl.simulate(model, data, problem.training))
            estimate = partial(fl.estimate_test_error, model, data, problem.training)
            found.append([cpu_time(partial(estimate, probes=probes)) / bare for probes in PROBES])
        line = {"samples": samples, "dim": dim, "sets": arguments.sets}
        yield line | {f"{n}_probes": float(cost) for n, cost in zip(PROBES, np.median(found[1:], axis=0), strict=True)}


def cpu_time(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def parse(words: list[str] | None = None) -> argparse.Namespace:
    size = lambda text: tuple(int(part) for part in text.split("x"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--sizes", type=size, nargs="+", default=[(250, 500)])
    parser.add_argument("--covariances", nargs="+", default=list(own_data.COVARIANCES), choices=own_data.COVARIANCES)
    parser.add_argument("--noise-var", type=float, default=0.1)
    parser.add_argument("--cost", action="store_true", help="of estimates alone, in trainings that keep no weights")
    parser.add_argument("--out", type=Path)
    return parser.parse_args(words)


if __name__ == "__main__":
    given = parse()
    own_data.tell(costs(given) if given.cost else campaign(given), given.out)
