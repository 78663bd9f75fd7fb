"""Diagonal networks on features of unequal variances: limits against runs, and fixed points against minimisers.

    python benchmarks/spectra_against_runs.py                                   # 32 limits: dim 2000, 20 trials
    python benchmarks/spectra_against_runs.py --which ends                      # 10 fixed points
    python benchmarks/spectra_against_runs.py --dim 300 --trials 10 --only blocks --depths 2

Four spectra, targets independent of the variance or joint with it, depths 2 and 3, flow and descent. Exits 1 if a row
deviates by more than 4 combined standard errors, at one of ten times.
"""

import argparse
import sys
import time
from typing import NamedTuple

import numpy as np
from ends_against_minimizers import against_data

import flowlimit as fl

NOISE, SCALE, HORIZON, STEPS = 0.05, 0.7, 3.0, 30
COUNT = 20
SPARSE = fl.Bernoulli(0.3)


Problem = tuple[fl.DiagonalLinear, fl.Regression, fl.Training]
HEAD = "| problem | worst deviation | where | bars at the end: limit, runs | CPU s: limit, runs |"


class Case(NamedTuple):
    """A law of features, and the size of the teacher's largest weights, in which a network's units are told."""

    features: fl.Features | fl.Spectrum | fl.PowerLaw
    size: float


def cases(dim: int) -> dict[str, Case]:
    """Return the laws; variances that are independent of the target have equal shares of the features."""
    index = np.arange(1.0, COUNT + 1)
    spectra = {
        "two blocks": np.array([1.0, 0.2]),
        "uniform": (2 * index - 1) / COUNT,
        "power 1.2": index**-1.2,
        "power 2": index**-2.0,
    }
    found = {
        f"{name}, independent": Case(fl.Features(variance=fl.Empirical(s), target=SPARSE), 1.0)
        for name, s in spectra.items()
    }
    found["two blocks, joint"] = Case(fl.Spectrum([1.0, 1.0, 0.2, 0.2], [1.0, 0.0, 0.0, 0.5]), 1.0)
    uniform = spectra["uniform"]
    found["uniform, joint"] = Case(fl.Spectrum(uniform, np.where(uniform > 1.0, uniform - 1.0, 0.0)), 1.0)
    for capacity, source in ((1.2, 1.5), (2.0, 2.0)):
        law = fl.PowerLaw(dim, capacity=capacity, source=source)
        found[f"power {capacity:g}, joint"] = Case(law, dim**0.5)
    return found


def rows(dim: int, depths: list[int], kinds: list[str]) -> dict[str, Problem]:
    """Return problems by name. Weights of size b need init scale b^(1/depth), and move by rates of b^(2 - 2/depth)."""
    found = {}
    for name, (law, size) in cases(dim).items():
        task = fl.Regression(1.0, noise_var=NOISE, features=law)
        for depth in depths:
            model = fl.DiagonalLinear(SCALE * size ** (1 / depth), depth=depth)
            horizon = HORIZON / size ** (2 - 2 / depth)
            descent = fl.GradientDescent(horizon / STEPS, num_steps=STEPS)
            for kind in kinds:
                training = {"flow": fl.GradientFlow(horizon), "descent": descent}[kind]
                found[f"{name}, depth {depth}, {kind}"] = model, task, training
    return found


def against_runs(options: argparse.Namespace) -> float:
    """Print a row for each problem and return the worst deviation."""
    print(HEAD, "|---" * 5 + "|", sep="\n")
    worst = 0.0
    for name, problem in rows(options.dim, options.depths, options.kinds).items():
        if not any(part in name for part in options.only):
            continue
        began = time.process_time()
        given = {"rtol": options.rtol, "time_limit": options.time_limit, "throw": False}
        limit = fl.solve_dmft(*problem, key=0, **given)
        middle = time.process_time()
        if not limit.replicas:
            worst = float("inf")
            print(f"| {name} | {limit.result.code} | | | {middle - began:.0f} |", flush=True)
            continue
        runs = fl.simulate(*problem, dim=options.dim, trials=options.trials, key=1, save_at=limit.times)
        ended = time.process_time()
        curve, when, size = fl.compare(limit, runs).worst
        worst = max(worst, size)
        bars = [100 * float(one.test_error_stderr[-1] / one.test_error[-1]) for one in (limit, runs)]
        note = f" ({limit.result.code})" if limit.result.message else ""
        print(
            f"| {name} | {size:.1f}{note} | {curve}, {when:.3g} | {bars[0]:.2f}%, {bars[1]:.2f}% | "
            f"{middle - began:.0f}, {ended - middle:.0f} |",
            flush=True,
        )
    return worst


def against_minimizers(options: argparse.Namespace) -> float:
    """Print a row for each fixed point and return the worst deviation, in standard errors of the mean over data."""
    print("| problem | aspect ratio | decay | test error | minimisers | deviation (train, test) | CPU s |")
    print("|---|---|---|---|---|---|---|")
    found = cases(options.dim)
    points = [(name, 0.5, 0.0) for name in found] + [(name, 1.5, 0.1) for name in list(found)[:2]]
    worst = 0.0
    for name, ratio, decay in points:
        if not any(part in name for part in options.only):
            continue
        began = time.process_time()
        law, size = found[name]
        model = fl.DiagonalLinear(SCALE * size**0.5, weight_decay=decay)
        task = fl.Regression(ratio, noise_var=NOISE, features=law)
        theory, mean, stderr, deviation = against_data(fl.fixed_point(model, task), model, task, options)
        worst = max(worst, float(deviation.max()))
        print(
            f"| {name} | {ratio:g} | {decay:g} | {theory[1]:.5f} | {mean[1]:.5f} +- {stderr[1]:.5f} | "
            f"{deviation[0]:.1f}, {deviation[1]:.1f} | {time.process_time() - began:.0f} |",
            flush=True,
        )
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--which", choices=("runs", "ends"), default="runs")
    parser.add_argument("--dim", type=int, default=2000)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--rtol", type=float, default=2e-2)
    parser.add_argument("--time-limit", type=float, default=1200.0, help="seconds for each limit")
    parser.add_argument("--depths", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--kinds", nargs="+", choices=("flow", "descent"), default=["flow", "descent"])
    parser.add_argument("--only", nargs="+", default=[""], help="parts of the names of the rows to run")
    options = parser.parse_args()
    worst = {"runs": against_runs, "ends": against_minimizers}[options.which](options)
    print(f"worst deviation: {worst:.2f} standard errors (asked for: 4)")
    sys.exit(worst > 4.0)


if __name__ == "__main__":
    main()
