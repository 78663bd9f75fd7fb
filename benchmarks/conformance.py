"""The conformance table of the tests at full size: definition, runs and limit of every kind of problem.

python benchmarks/conformance.py --dim 2000
"""

import argparse
import runpy
import sys
import time
from pathlib import Path

import flowlimit as fl

ROWS = runpy.run_path(str(Path(__file__).parents[1] / "tests" / "conformance" / "table.py"))["ROWS"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dim", type=int, default=2000)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--rtol", type=float, default=2e-2)
    parser.add_argument("--only", default="", help="part of the names of the rows to run")
    options = parser.parse_args()
    failed = []
    print("| problem | checks | limit against runs | seconds |\n|---|---|---|---|")
    for name, problem in ROWS.items():
        if options.only not in name:
            continue
        began = time.perf_counter()
        found = fl.conform(*problem, dim=options.dim, trials=options.trials, rtol=options.rtol, time_limit=120.0)
        passed = sum(check.passed for check in found.checks)
        against = next(check.found for check in found.checks if check.name == "limit against runs")
        seconds = time.perf_counter() - began
        print(f"| {name} | {passed} of {len(found.checks)} | {against} | {seconds:.0f} |", flush=True)
        if not found:
            failed.append((name, found))
    for name, found in failed:
        print(f"\n{name}\n{found}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
