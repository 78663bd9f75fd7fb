"""What a point of a sweep costs: seconds by verb and accuracy, once compiled, and bytes in the store.

    python benchmarks/cost_of_a_point.py

The reference problem: init scale .3, aspect ratio .5, noise .01, Bernoulli(.1) targets; points differ in the
noise, so that nothing is compiled twice. Seconds are medians, of a whole machine.
"""

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import flowlimit as fl

MODEL = fl.DiagonalLinear(init_scale=0.3)
TASK = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
FLOW, DESCENT = fl.GradientFlow(horizon=20.0), fl.GradientDescent(step_size=0.2, num_steps=50)


def problems() -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any], int]]:
    yield "fixed point", (fl.fixed_point, MODEL, TASK), {}, 256
    yield "rate", (fl.convergence_rate, MODEL, TASK), {}, 256
    yield "timescales", (fl.timescales, MODEL, TASK), {}, 256
    for rtol in (0.1, 0.03, 0.01):
        yield f"limit of the flow to t = 20, {rtol:.0%}", (fl.solve_dmft, MODEL, TASK, FLOW), {"rtol": rtol}, 4
        yield f"limit of 50 steps, {rtol:.0%}", (fl.solve_dmft, MODEL, TASK, DESCENT), {"rtol": rtol}, 4
    sizes = {"dim": 2000, "trials": 10}
    yield "runs of 50 steps, dim 2000, 10 trials", (fl.simulate, MODEL, TASK, DESCENT), sizes, 4


def stored(path):
    return sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())


def main():
    print("| point | seconds | bytes |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for index, (name, problem, options, count) in enumerate(problems()):
            over = {"task.noise_var": np.linspace(0.01, 0.02, count)}
            path = f"{folder}/{index}.zarr"
            fl.sweep(*problem, over=over, **options)  # compiles
            table = fl.sweep(*problem, over=over, store=path, **options)
            seconds = statistics.median(table.seconds.values.tolist())
            print(f"| {name} | {seconds:.2g} | {stored(path) / count:.0f} |", flush=True)


if __name__ == "__main__":
    main()
