"""Time limits: seconds until control comes back from a limit that is allowed 5 s, twice, and what came back.

    python benchmarks/time_limits.py [--seconds 5]

Each problem has a process of its own with no compilation cache: the first call compiles, the second, with another key,
only what the first did not reach. Control should be back within the limit and one compiled call.
"""

import argparse
import json
import os
import subprocess
import sys

TASK = "fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))"
PROBLEMS = {
    "README": f"fl.DiagonalLinear(0.3), {TASK}, fl.GradientFlow(20.0), rtol=2e-2",
    "300 steps": f"fl.DiagonalLinear(0.3), {TASK}, fl.GradientDescent(0.1, num_steps=300)",
    "depth 3": f"fl.DiagonalLinear(0.3, depth=3), {TASK}, fl.GradientFlow(20.0)",
    "logistic": "fl.Linear(), fl.Classification(2.0, target=fl.Normal()), fl.GradientDescent(0.5, num_steps=50)",
    "horizon 1000": f"fl.DiagonalLinear(0.3), {TASK}, fl.GradientFlow(1000.0)",
    "init scale .01": f"fl.DiagonalLinear(0.01), {TASK}, fl.GradientFlow(40.0)",
}
SCRIPT = """
import json, time, warnings
import flowlimit as fl
problem = lambda key: fl.solve_dmft({problem}, key=key, time_limit={seconds}, throw=False)
for key in (0, 1):
    began = time.perf_counter()
    limit = problem(key)
    spent = time.perf_counter() - began
    bar = 200.0 * float((limit.test_error_stderr / limit.test_error).max()) if limit.replicas else None
    print(json.dumps([spent, limit.result.code, limit.replicas, bar]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--only", nargs="*", default=list(PROBLEMS))
    options = parser.parse_args()
    environment = {name: value for name, value in os.environ.items() if "CACHE" not in name}
    print("| problem | first call: s | what came back | second call: s | what came back |\n|---|---|---|---|---|")
    for name in options.only:
        script = SCRIPT.format(problem=PROBLEMS[name], seconds=options.seconds)
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
        )
        cells = []
        for spent, code, replicas, bar in map(json.loads, done.stdout.splitlines()[-2:]):
            answer = f", {replicas} replicas, test error to {bar:.2g}%" if replicas else ""
            cells += [f"{spent:.1f}", f"{code}{answer}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
