"""The estimated test error against the truth, on data of which the truth is known: means, coverage, stopping.

    python benchmarks/own_data.py --sets 200 --out own_data.jsonl            # all of the campaign, hours
    python benchmarks/own_data.py --sets 20 --sizes 100x200 --init-scales .3 # a minute
    python benchmarks/own_data.py --seconds 60 --first-seed 5000             # as many sets of each kind as a minute has

Every line is one kind of problem: the mean over data sets of estimate over truth with its standard error (data sets are
independent, the times of one are not), how often the interval of 95% covers the truth, the spread of deviations in
standard errors, and what stopping by the estimate costs: the test error at the chosen time over the smallest one, and
how often the interval of times holds the best time.
"""

import argparse
import itertools
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import flowlimit as fl

NOISE_VAR, SPARSITY, BLOCK = 0.01, 0.1, 10
COVARIANCES = ("isotropic", "power", "blocks")
ENTRIES = ("normal", "student", "binary")
STEPS = 60
TRAININGS = {
    "flow": lambda step: fl.GradientFlow(STEPS * step),
    "descent": lambda step: fl.GradientDescent(step, num_steps=STEPS),
}
STEP_SIZES = {"isotropic": 0.25, "power": 0.05, "blocks": 0.1}
"""Of descent, below what is stable for each covariance at init scales up to 1."""
TIMES = 30
Judged = tuple[fl.Estimate, np.ndarray]
"""An estimate, and the truth at its times."""


def make_root(covariance: str, dim: int) -> np.ndarray:
    """Return a root of the covariance, of trace dim."""
    if covariance == "power":
        variances = np.arange(1.0, dim + 1.0) ** -0.7
        return np.diag(np.sqrt(variances * dim / variances.sum()))
    if covariance == "blocks":
        block = np.linalg.cholesky(0.5 * np.eye(BLOCK) + 0.5)
        return np.kron(np.eye(dim // BLOCK), block)
    return np.eye(dim)


def draw(
    rng: np.random.Generator, samples: int, root: np.ndarray, entries: str, noise_var: float = NOISE_VAR
) -> tuple[np.ndarray, ...]:
    """Return X, y and w*."""
    shape = (samples, len(root))
    if entries == "student":
        Z = rng.standard_t(5, size=shape) * np.sqrt(3.0 / 5.0)
    else:
        Z = rng.normal(size=shape) if entries == "normal" else rng.choice([-1.0, 1.0], size=shape)
    X = Z @ root.T / np.sqrt(len(root))
    w_star = (rng.random(len(root)) < SPARSITY).astype(float)
    return X, X @ w_star + np.sqrt(noise_var) * rng.normal(size=samples), w_star


def one_set(
    models: Sequence[fl.Model],
    training: fl.Training,
    samples: int,
    root: np.ndarray,
    entries: str,
    seed: int,
    probes: int,
) -> list[Judged]:
    """Return the estimates of all models on one data set, each with the truth at all saved times."""
    X, y, w_star = draw(np.random.default_rng([seed, samples, len(root)]), samples, root, entries)
    clock = training.clock
    last = clock.last
    positions = (
        np.unique(np.round(np.geomspace(1.0, last, TIMES))) if clock.in_steps else np.geomspace(0.02, 1.0, TIMES) * last
    )
    found = fl.select(models, fl.Dataset(X, y), training, probes=probes, key=seed, save_at=clock.times_at(positions))
    truth = lambda weights: (((weights - w_star) @ root) ** 2).mean(axis=1) + NOISE_VAR
    return [(estimate, truth(estimate.weights)) for estimate in found.estimates]


def judge(found: Sequence[Judged]) -> dict[str, Any]:
    """Return what a kind of problem showed."""
    ratio = np.array([estimate.test_error / truth for estimate, truth in found])
    z = np.array([(e.test_error - truth) / e.test_error_stderr for e, truth in found])
    covered = np.abs(z) <= 1.96
    best = np.array([truth.argmin() for _, truth in found])
    stops = [e.stopping for e, _ in found if e.stopping is not None]  # all have one
    chosen = np.array([np.abs(e.times - stop.time).argmin() for (e, _), stop in zip(found, stops, strict=True)])
    regret = np.array([t[c] / t[b] for (_, t), c, b in zip(found, chosen, best, strict=True)])
    times = [e.times[b] for (e, _), b in zip(found, best, strict=True)]
    held = [stop.low <= time <= stop.high for stop, time in zip(stops, times, strict=True)]
    bar = lambda part: float(np.median([getattr(e, part)["test_error"] / t for e, t in found]))
    stderr = ratio.std(axis=0, ddof=1) / np.sqrt(len(found))
    worst = int(np.abs((ratio.mean(axis=0) - 1.0) / stderr).argmax())
    return {
        "sets": len(found),
        "ratio": float(ratio.mean()),
        "ratio_stderr": float(ratio.mean(axis=1).std(ddof=1) / np.sqrt(len(found))),
        "ratio_worst": float(ratio.mean(axis=0)[worst]),
        "ratio_worst_stderr": float(stderr[worst]),
        "covered": float(covered.mean()),
        "covered_stderr": float(covered.mean(axis=1).std(ddof=1) / np.sqrt(len(found))),
        "covered_least": float(covered.mean(axis=0).min()),
        "covered_most": float(covered.mean(axis=0).max()),
        "z_sd": float(z.std()),
        "probes_error": bar("probes_error"),
        "samples_error": bar("samples_error"),
        "regret_median": float(np.median(regret)),
        "regret_worst": float(regret.max()),
        "best_time_held": float(np.mean(held)),
    }


def campaign(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield one line for each kind of problem; models of all init scales are trained on the same data sets."""
    kinds = itertools.product(arguments.sizes, arguments.trainings, arguments.covariances, arguments.entries)
    for (samples, dim), training, covariance, entries in kinds:
        root, began = make_root(covariance, dim), time.process_time()
        models = [fl.DiagonalLinear(init_scale) for init_scale in arguments.init_scales]
        nouns = models, TRAININGS[training](STEP_SIZES[covariance])
        found: list[list[Judged]] = []
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.sets):
            found.append(one_set(*nouns, samples, root, entries, seed, arguments.probes))
            if len(found) > 1 and time.process_time() - began > arguments.seconds:
                break
        kind = {"samples": samples, "dim": dim, "covariance": covariance, "entries": entries, "training": training}
        kind |= {"probes": arguments.probes, "first_seed": arguments.first_seed}
        seconds = (time.process_time() - began) / len(models)
        for init_scale, own in zip(arguments.init_scales, zip(*found, strict=True), strict=True):
            yield kind | {"init_scale": init_scale} | judge(own) | {"seconds": seconds}


def parse(words: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    size = lambda text: tuple(int(part) for part in text.split("x"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=200)
    limit = "CPU time after which a kind of problem gets no more data sets"
    parser.add_argument("--seconds", type=float, default=np.inf, help=limit)
    parser.add_argument("--first-seed", type=int, default=0, help="new data sets: seeds from here on")
    parser.add_argument("--sizes", type=size, nargs="+", default=[(250, 500), (500, 1000), (2000, 1000)])
    parser.add_argument("--covariances", nargs="+", default=list(COVARIANCES), choices=COVARIANCES)
    parser.add_argument("--entries", nargs="+", default=["normal"], choices=ENTRIES)
    parser.add_argument("--init-scales", type=float, nargs="+", default=[0.1, 0.3, 1.0])
    parser.add_argument("--trainings", nargs="+", default=list(TRAININGS), choices=list(TRAININGS))
    parser.add_argument("--probes", type=int, default=8)
    parser.add_argument("--out", type=Path)
    return parser.parse_args(words)


def tell(lines: Iterable[dict[str, Any]], out: Path | None) -> None:
    """Print lines as they come, and append them to a file if there is one."""
    for line in lines:
        print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in line.items()}), flush=True)
        if out:
            with out.open("a") as file:
                file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    given = parse()
    tell(campaign(given), given.out)
