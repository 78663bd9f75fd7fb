"""The limit against simulation: problems that span the corners, both trainings, a table of deviations.

    python benchmarks/limit_against_runs.py                    # dim 1000, 40 trials: what the docs quote
    python benchmarks/limit_against_runs.py --dim 300 --trials 10 --problems 0 8

Exits 1 if a problem deviates by more than 4 combined standard errors at one of ten times.
"""

import argparse
import time

import flowlimit as fl


def flow(init_scale, weight_decay, aspect_ratio, noise_var, horizon):
    task = fl.Regression(aspect_ratio, noise_var=noise_var, target=fl.Bernoulli(0.1))
    return fl.DiagonalLinear(init_scale, weight_decay=weight_decay), task, fl.GradientFlow(horizon)


def descent(model, aspect_ratio, noise_var, step_size, num_steps, target=None):
    task = fl.Regression(aspect_ratio, noise_var=noise_var, target=target or fl.Bernoulli(0.1))
    return model, task, fl.GradientDescent(step_size, num_steps=num_steps)


PROBLEMS = [
    flow(0.3, 0.0, 0.5, 0.01, 50.0),
    flow(0.01, 0.0, 0.5, 0.0, 25.0),
    flow(0.1, 0.1, 0.5, 0.01, 50.0),
    flow(1.0, 0.0, 0.9, 0.01, 50.0),
    flow(1.0, 0.0, 1.1, 0.0, 50.0),
    flow(10.0, 0.0, 0.5, 0.01, 0.5),
    flow(10.0, 0.1, 0.5, 0.01, 80.0),
    flow(0.3, 0.1, 2.0, 0.05, 50.0),
    descent(fl.DiagonalLinear(0.3, weight_decay=0.05), 0.5, 0.01, 0.2, 100),
    descent(fl.DiagonalLinear(0.3), 0.5, 0.01, 1.0, 24),
    descent(fl.DiagonalLinear(0.5, depth=3), 1.1, 0.01, 0.2, 60),
    descent(fl.Linear(1 / 6, init_scale=1.0, init_overlap=0.2), 3.0, 0.0, 0.3, 50, fl.Normal()),
    descent(fl.DiagonalLinear(1.0, weight_decay=0.1), 2.0, 0.0, 0.2, 60, fl.SparseRademacher(0.2)),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dim", type=int, default=1000)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--rtol", type=float, default=1e-2)
    parser.add_argument("--problems", type=int, nargs="*", default=range(len(PROBLEMS)))
    options = parser.parse_args()
    print("| model | task | training | worst deviation | curve, time | limit s | runs s |")
    print("|---|---|---|---|---|---|---|")
    failures = 0
    for index in options.problems:
        model, task, training = PROBLEMS[index]
        began = time.perf_counter()
        limit = fl.solve_dmft(model, task, training, rtol=options.rtol, key=0, time_limit=120.0, throw=False)
        middle = time.perf_counter()
        runs = fl.simulate(model, task, training, dim=options.dim, trials=options.trials, key=1)
        ended = time.perf_counter()
        comparison = fl.compare(limit, runs)
        name, when, size = comparison.worst
        failures += not comparison.passed
        note = f" ({limit.result.message})" if limit.result.message else ""
        seconds = f"{middle - began:.0f} | {ended - middle:.0f} |"
        print(f"| {model} | {task} | {training} | {size:.1f} | {name}, {when:.3g}{note} | {seconds}", flush=True)
    return int(failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
