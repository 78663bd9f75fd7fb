"""Late times of the network's flow: seconds, nodes, memory and the distance to the fixed point, cell by cell.

    python benchmarks/long_flows.py --out long_flows.jsonl
    python benchmarks/long_flows.py --out long_flows.jsonl --table

A cell is a weight decay, an init scale and a horizon, solved in a process of its own at 5%. Cells that are in the file
already are not solved again, so that the command can be stopped at any time. ``--table`` prints what is there.
"""

import argparse
import json
import multiprocessing
import resource
import time
from pathlib import Path

import numpy as np

import flowlimit as fl

SAVES = 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("long_flows.jsonl"))
    parser.add_argument("--decays", type=float, nargs="+", default=[0.0, 0.01, 0.1])
    parser.add_argument("--scales", type=float, nargs="+", default=[0.01, 0.1, 0.3, 1.0, 10.0])
    parser.add_argument("--horizons", type=float, nargs="+", default=[1e2, 1e4, 1e6])
    parser.add_argument("--ratio", type=float, default=0.5, help="aspect ratio; a file should have cells of one alone")
    parser.add_argument("--rtol", type=float, default=0.05)
    parser.add_argument("--time-limit", type=float, default=300.0)
    parser.add_argument("--table", action="store_true", help="print the cells that are there, and solve none")
    options = parser.parse_args()
    done = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    if options.table:
        print(_table(done))
        return
    known = {(cell["decay"], cell["scale"], cell["horizon"]) for cell in done}
    cells = [(d, s, h) for h in options.horizons for d in options.decays for s in options.scales]
    for cell in cells:
        if cell in known:
            continue
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found = pool.apply(_solve, (*cell, options.ratio, options.rtol, options.time_limit))
        print(found, flush=True)
        with options.out.open("a") as file:
            file.write(json.dumps(found) + "\n")


def _solve(decay: float, scale: float, horizon: float, ratio: float, rtol: float, time_limit: float) -> dict:
    model = fl.DiagonalLinear(scale, weight_decay=decay)
    task = fl.Regression(ratio, noise_var=0.01, target=fl.Bernoulli(0.1))
    times = np.r_[0.0, np.geomspace(min(1.0, horizon / 10.0), horizon, SAVES)]
    wall, cpu = time.perf_counter(), time.process_time()
    limit = fl.solve_dmft(
        model, task, fl.GradientFlow(horizon), rtol=rtol, save_at=times, time_limit=time_limit, throw=False
    )
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    answered = bool(limit.replicas)
    return {
        "decay": decay,
        "scale": scale,
        "horizon": horizon,
        "outcome": str(limit.result),
        "seconds": wall,
        "cpu_seconds": cpu,
        "held_from": limit.stats.held_from,
        "nodes": limit.stats.nodes,
        "level": limit.stats.level,
        "replicas": limit.stats.replicas,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
        "test_error": float(limit.test_error[-1]) if answered else None,
        "stderr": float(limit.test_error_stderr[-1]) if answered else None,
        "fixed_point": float(fl.fixed_point(model, task).test_error),
    }


def _table(done: list[dict]) -> str:
    names = "weight decay, init scale, horizon, outcome, held from, nodes, CPU s, peak MB, over fixed point, bar"
    lines = [f"| {names.replace(', ', ' | ')} |", "|---" * 10 + "|"]
    for cell in sorted(done, key=lambda one: (one["decay"], one["scale"], one["horizon"])):
        place = f"{cell['decay']:g} | {cell['scale']:g} | {cell['horizon']:.0e}"
        ends = "none | none"
        if cell["test_error"] is not None:
            fixed = cell["fixed_point"]
            ends = f"{cell['test_error'] / fixed:.4f} | {cell['stderr'] / fixed:.4f}"
        held = "" if cell["held_from"] is None else f"{cell['held_from']:.4g}"
        outcome = cell["outcome"].removeprefix("Outcome(").split(":")[0].rstrip(")")
        lines.append(
            f"| {place} | {outcome} | {held} | {cell['nodes']} | {cell['cpu_seconds']:.0f} | {cell['peak_mb']:.0f} "
            f"| {ends} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
