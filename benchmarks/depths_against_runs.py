"""Deep diagonal networks, truncated or not: the limit of gradient descent against simulation.

A depth has its own step: at depth 4 steps of .2 are too long for the limit, whose rare paths overshoot and blow up; at
aspect ratio 1 and init scale .3 even steps of .1 are.

python benchmarks/depths_against_runs.py --dim 2000 --trials 10
"""

import argparse
import sys
import time

import flowlimit as fl

TASK = fl.Regression(2.0, noise_var=0.01, target=fl.Bernoulli(0.2))
FLOW = fl.GradientFlow(horizon=6.0)
TRAININGS = {3: fl.GradientDescent(step_size=0.2, num_steps=60), 4: fl.GradientDescent(step_size=0.1, num_steps=120)}


def problems_of(depth: int) -> list[tuple[list[fl.DiagonalLinear], fl.Training]]:
    """Return the models of one depth: init scales and weight decays by descent, truncated ones as flows.

    A truncation at 2 is steep between 2 and 3, where steps of these sizes are chaotic.
    """
    plain = [fl.DiagonalLinear(scale, weight_decay=decay, depth=depth) for scale in (0.3, 1.0) for decay in (0.0, 0.1)]
    truncated = [fl.DiagonalLinear(1.0, depth=depth, truncation=bound) for bound in (None, 100.0, 2.0)]
    return [(plain, TRAININGS[depth]), (truncated, FLOW)]


def judge(models: list[fl.DiagonalLinear], training: fl.Training, options: argparse.Namespace) -> float:
    """Print a row for each model and return the worst deviation in standard errors."""
    worst = 0.0
    runs = fl.simulate(models, TASK, training, dim=options.dim, trials=options.trials, key=1)
    for model, one in zip(models, runs, strict=True):
        began = time.perf_counter()
        limit = fl.solve_dmft(model, TASK, training, rtol=1e-2, key=0, time_limit=options.time_limit, throw=False)
        seconds = time.perf_counter() - began
        if not limit.replicas:
            worst = float("inf")
            print(f"| `{model}`, {type(training).__name__} | {limit.result.code} | | {seconds:.0f} |", flush=True)
            continue
        found = fl.compare(limit, one).worst[2]
        worst = max(worst, found)
        end = f"{limit.test_error[-1]:.8f}({limit.test_error_stderr[-1]:.8f})"
        print(f"| `{model}`, {type(training).__name__} | {found:.1f} | {end} | {seconds:.0f} |", flush=True)
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dim", type=int, default=2000)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--time-limit", type=float, default=120.0)
    parser.add_argument("--depths", type=int, nargs="+", default=[3, 4])
    options = parser.parse_args()
    print("| model | worst deviation (standard errors) | last test error | seconds |\n|---|---|---|---|")
    problems = [problem for depth in options.depths for problem in problems_of(depth)]
    worst = max(judge(*problem, options) for problem in problems)
    sys.exit(worst > 4.0)


if __name__ == "__main__":
    main()
