"""How long does a user wait? Seconds from the call to the answer, compilation included where a user meets it.

    python benchmarks/latency.py                         # all rows, medians of three: an hour on two quiet cores
    python benchmarks/latency.py --rows readme rate      # some of them
    python benchmarks/latency.py --rows readme --times 1 --history benchmarks/latency.jsonl

Each measurement is a new process. Cold rows have an empty cache of programs, those after them the cache that the cold
ones filled; warm rows call twice in one process, with another key, and measure the second call. Python may write its
bytecode, which an installed package has. With --history the seconds are appended to a file, a line for each row, with
date and commit.
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HEAD = """
import json, time
import flowlimit as fl
TASK = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
NETWORK = fl.DiagonalLinear(0.3)
FLOW = fl.GradientFlow(20.0)

def timed(*problem, **options):
    began = time.perf_counter()
    limit = fl.solve_dmft(*problem, throw=False, **options)
    return time.perf_counter() - began

def warm(*problem, keys=(1,), **options):
    timed(*problem, key=0, **options)
    seconds = sorted(timed(*problem, key=key, **options) for key in keys)
    print(json.dumps(seconds[len(seconds) // 2]))
"""
KEYS = "keys=(1, 2, 3, 4, 5)"
STIFF = "fl.DiagonalLinear(10.0, weight_decay=0.1), TASK, fl.GradientFlow(100.0), rtol=0.1"
LOGISTIC = "fl.Linear(), fl.Classification(2.0, target=fl.Normal()), fl.GradientDescent(0.5, num_steps=60), rtol=0.01"
HUBER = (
    "fl.Linear(), fl.GeneralizedLinear(2.0, target=fl.Normal(), loss=fl.HuberLoss(1.0, noise_std=0.5, tail=1.0)), "
    "fl.GradientDescent(0.2, num_steps=50), rtol=0.013"  # two bars of docs/losses.md
)
WARM = {
    "2%": f"NETWORK, TASK, FLOW, rtol=0.02, {KEYS}",
    "1%": f"NETWORK, TASK, FLOW, rtol=0.01, {KEYS}",
    "0.1%": f"NETWORK, TASK, FLOW, rtol=0.001, {KEYS}",
    "50 steps": "NETWORK, TASK, fl.GradientDescent(0.1, num_steps=50), rtol=0.01",
    "200 steps": "NETWORK, TASK, fl.GradientDescent(0.1, num_steps=200), rtol=0.01",
    "horizon 200": "NETWORK, TASK, fl.GradientFlow(200.0), rtol=0.01",
    "stiff": STIFF,
    "logistic": LOGISTIC,
    "Huber": HUBER,
}
"""Limits whose programs are there: name -> arguments."""
README = f"{HEAD}\nbegan = time.perf_counter()\ntimed(NETWORK, TASK, FLOW, rtol=0.02, key=0)"
SWEEP = f"""{HEAD}
import numpy as np
axes = {{"model.init_scale": np.geomspace(0.1, 1.0, 5), "task.aspect_ratio": np.linspace(0.3, 0.9, 5)}}
fl.sweep(fl.solve_dmft, NETWORK, TASK, FLOW, over=axes, rtol=0.1)
axes = {{"model.init_scale": np.geomspace(0.12, 0.95, 10), "task.aspect_ratio": np.linspace(0.32, 0.88, 10)}}
began = time.perf_counter()
fl.sweep(fl.solve_dmft, NETWORK, TASK, FLOW, over=axes, rtol=0.1)
print(json.dumps((time.perf_counter() - began) / 100))
"""
ROWS = ["readme", "rate", *WARM, "sweep"]


def main():
    """Measure, print a table, and append to the history."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", nargs="*", default=ROWS, choices=ROWS)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--history", type=Path)
    given = parser.parse_args()
    print("| row | seconds, median | all |\n|---|---|---|")
    for row in given.rows:
        measured = [measure(row) for _ in range(given.times)]
        for name in measured[0]:
            seconds = [one[name] for one in measured]
            print(
                f"| {name} | {statistics.median(seconds):.2f} | {', '.join(f'{s:.2f}' for s in seconds)} |", flush=True
            )
            if given.history is not None:
                remember(given.history, name, seconds)


def measure(row: str) -> dict[str, float]:
    """Return the seconds of a row; of a row whose programs are kept, those of a first and of a later process."""
    with tempfile.TemporaryDirectory() as folder:
        cache = {"FLOWLIMIT_CACHE": folder}
        if row == "readme":
            keep = README.replace("import flowlimit as fl", "import flowlimit as fl\nfl.keep_programs()")
            command = [sys.executable, "-c", keep]
        elif row == "rate":
            command = [sys.executable, "-m", "flowlimit.cli.process", "convergence-rate", "--init-scale", "0.3"]
        else:
            code = SWEEP if row == "sweep" else f"{HEAD}\nwarm({WARM[row]})"
            return {row: float(json.loads(call([sys.executable, "-c", code], {"FLOWLIMIT_CACHE": "off"})[1]))}
        return {f"{row}, first process": call(command, cache)[0], f"{row}, later process": call(command, cache)[0]}


def call(command: list[str], variables: dict[str, str]) -> tuple[float, str]:
    """Return the seconds of a new process, and what it printed."""
    left = ("JAX_", "FLOWLIMIT_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left)}
    began = time.perf_counter()
    done = subprocess.run(command, env=kept | variables, capture_output=True, text=True, check=True)
    return time.perf_counter() - began, done.stdout


def remember(history: Path, row: str, seconds: list[float]) -> None:
    """Append a row to the history."""
    commit = call(["git", "rev-parse", "--short", "HEAD"], {})[1].strip()
    line: dict[str, Any] = {"date": datetime.date.today().isoformat(), "commit": commit, "row": row}
    with history.open("a") as file:
        file.write(json.dumps(line | {"seconds": [round(s, 3) for s in seconds]}) + "\n")


if __name__ == "__main__":
    main()
