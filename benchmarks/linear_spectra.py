"""`Linear` on four spectra against the two-point deterministic equivalent, by contour integrals, at ten times.

    python benchmarks/linear_spectra.py                # power laws at dim 10^4
    python benchmarks/linear_spectra.py --dim 100 --kinds descent

The limit has up to 96 strata; the equivalent sums over every coordinate. Exits 1 if a training or test error is off
by more than 1e-6 of itself, or has a sampling error above 1e-9.
"""

import argparse
import runpy
import sys
import time
from pathlib import Path

import numpy as np

import flowlimit as fl

TRUTH = runpy.run_path(str(Path(__file__).parents[1] / "tests" / "truths" / "equivalents.py"))
ALLOWED, SAMPLED = 1e-6, 1e-9
NOISE, STEP, STEPS = 0.1, 0.4, 30
TIMES = [0.0, 0.1, 0.3, 0.6, 1.0, 1.4, 1.8, 2.4, 3.0, 4.0]
AT = [0, 1, 2, 3, 5, 8, 12, 18, 24, 30]


def independent(variances, share):
    """Return a law with a normal target on each variance, and what the equivalent needs of it."""
    s, p = np.unique(variances, return_counts=True)
    law = fl.Features(variance=fl.Empirical(variances), target=fl.Normal(share**0.5))
    return law, (s, np.full(len(s), share), p / len(variances))


def spectra(dim):
    """Return the laws, what the equivalent needs of them, and aspect ratios."""
    found = {
        "two blocks": (*independent([1.0, 0.1, 0.1], 0.64), 2.0),
        "uniform": (*independent((np.arange(20) + 0.5) / 20.0, 1.0), 2.0),
    }
    for capacity, source in ((1.2, 1.5), (2.0, 2.0)):
        law = fl.PowerLaw(dim, capacity=capacity, source=source)
        found[f"power {capacity:g}"] = law, TRUTH["power_law"](dim, capacity, source), 0.5
    return found


def solve(kind, task, options):
    """Return the limit, the indices of the ten times, and the residual of an eigenvalue at each."""
    if kind == "descent":
        limit = fl.solve_dmft(fl.Linear(), task, fl.GradientDescent(STEP, num_steps=STEPS), rtol=options.rtol)
        return limit, AT, [lambda z, i=i: (1 - STEP * z) ** i for i in AT]
    limit = fl.solve_dmft(fl.Linear(), task, fl.GradientFlow(TIMES[-1]), rtol=options.rtol, save_at=TIMES)
    return limit, list(range(len(TIMES))), [lambda z, t=t: np.exp(-z * t) for t in TIMES]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dim", type=int, default=10_000)
    parser.add_argument("--rtol", type=float, default=1e-5)
    parser.add_argument("--kinds", nargs="+", choices=("flow", "descent"), default=["descent", "flow"])
    parser.add_argument("--only", default="", help="part of the names of the spectra")
    options = parser.parse_args()
    print("| spectrum | training | train error off by | test error off by | sampling error | bar | strata | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    passed = True
    for name, (law, known, ratio) in spectra(options.dim).items():
        if options.only not in name:
            continue
        exact = TRUTH["Equivalent"](*known, ratio, NOISE)
        for kind in options.kinds:
            began = time.process_time()
            limit, at, residuals = solve(kind, fl.Regression(ratio, noise_var=NOISE, features=law), options)
            seconds = time.process_time() - began
            truth = np.array([exact.errors(one) for one in residuals]).T
            found = np.stack([limit.train_error[at], limit.test_error[at]])
            off = np.abs(found / truth - 1).max(axis=1)
            errors = limit.statistical["test_error"], limit.test_error_stderr
            sampled, bar = (float((one / limit.test_error).max()) for one in errors)
            passed &= bool(off.max() < ALLOWED and sampled < SAMPLED)
            print(
                f"| {name} | {kind} | {off[0]:.1e} | {off[1]:.1e} | {sampled:.1e} | {bar:.1e} | "
                f"{len(law.strata().probability)} | {seconds:.0f} |",
                flush=True,
            )
    sys.exit(not passed)


if __name__ == "__main__":
    main()
