"""Memory that limits and runs take against what was estimated before they began: ten problems of different kinds.

Each problem has a process of its own; its peak is what the process grew by during the call. Compiling takes some 200 MB
whatever the problem is, which the estimates know. Usage: python benchmarks/memory_of_solves.py [--only NAME ...]
"""

import argparse
import json
import os
import subprocess
import sys

SIGNS = "fl.Classification(2.0, target=fl.Normal())"
TASK = "fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))"
BATCHES = "fl.StochasticGradientDescent(0.3, step_size=0.1, num_steps=60)"
FEW = "fl.GradientDescent(0.1, num_steps=20)"
LIMITS = {
    "network, flow": f"fl.DiagonalLinear(0.3), {TASK}, fl.GradientFlow(20.0), rtol=2e-2",
    "network, flow, more paths": f"fl.DiagonalLinear(0.3), {TASK}, fl.GradientFlow(5.0), rtol=2e-3",
    "depth 3, flow": f"fl.DiagonalLinear(0.5, depth=3), {TASK}, fl.GradientFlow(5.0), rtol=5e-2",
    "network, 100 steps": f"fl.DiagonalLinear(0.3), {TASK}, fl.GradientDescent(0.1, num_steps=100), rtol=5e-2",
    "network, 300 steps": f"fl.DiagonalLinear(0.3), {TASK}, fl.GradientDescent(0.1, num_steps=300), rtol=0.2",
    "logistic, 40 steps": f"fl.Linear(), {SIGNS}, fl.GradientDescent(0.5, num_steps=40), rtol=5e-2",
    "linear, flow": f"fl.Linear(), {TASK}, fl.GradientFlow(20.0), rtol=1e-3",
    "linear, 300 steps": f"fl.Linear(), {TASK}, fl.GradientDescent(0.1, num_steps=300), rtol=1e-3",
    "batches, 60 steps": f"fl.DiagonalLinear(0.3), {TASK}, {BATCHES}, rtol=0.1",
    "Langevin, 60 steps": f"fl.DiagonalLinear(0.3), {TASK}, fl.Langevin(1e-3, step_size=0.1, num_steps=60), rtol=0.1",
}
RUNS = {
    "runs, flow, dim 2000": f"fl.DiagonalLinear(0.3), {TASK}, fl.GradientFlow(5.0), dim=2000, trials=2",
    "runs, steps, dim 6000": f"fl.DiagonalLinear(0.3), {TASK}, {FEW}, dim=6000, trials=2",
}
SCRIPT = """
import dataclasses, json, warnings
from pathlib import Path
import flowlimit as fl
warnings.simplefilter("ignore")
lines = lambda: Path("/proc/self/status").read_text().splitlines()
status = lambda name: 1024 * int(next(line for line in lines() if name in line).split()[1])
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before = status("VmRSS")
done = {call}
print(json.dumps([status("VmHWM") - before, dataclasses.asdict(done.stats)]))
"""


def measure(call: str) -> tuple[int, dict]:
    environment = {name: value for name, value in os.environ.items() if "CACHE" not in name}  # compiled, not read
    script = SCRIPT.format(call=call)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    peak, stats = json.loads(done.stdout.splitlines()[-1])
    return peak, stats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[*LIMITS, *RUNS])
    parser.add_argument("--allowed", type=float, default=0.3, help="largest relative difference")
    parser.add_argument("--verbose", action="store_true", help="print what decides the memory")
    options = parser.parse_args()
    worst = 0.0
    for name in options.only:
        verb, problems = ("solve_dmft", LIMITS) if name in LIMITS else ("simulate", RUNS)
        extra = ", throw=False" + (", time_limit=400.0" if verb == "solve_dmft" else "")
        peak, stats = measure(f"fl.{verb}({problems[name]}{extra})")
        estimate = stats["memory_bytes"]
        worst = max(worst, abs(estimate / peak - 1.0))
        print(
            f"{name:28s} measured {peak / 2**20:7.0f} MiB, estimated {estimate / 2**20:7.0f} ({estimate / peak:.2f})",
            flush=True,
        )
        print("   ", {key: value for key, value in stats.items() if key != "edges"}, flush=True)
    sys.exit(worst > options.allowed)


if __name__ == "__main__":
    main()
