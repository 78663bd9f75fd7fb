"""Deep diagonal networks, truncated or not: the limit of gradient descent against simulation.

python benchmarks/depths_against_runs.py --dim 2000 --trials 10
"""

import argparse
import sys
import time

import flowlimit as fl

TASK = fl.Regression(1.0, 0.01, fl.Bernoulli(0.2))
TRAINING = fl.GradientDescent(step_size=0.2, num_steps=60)
MODELS = [
    *(fl.DiagonalLinear(scale, decay, depth=depth) for depth in (3, 4) for scale in (0.3, 1.0) for decay in (0.0, 0.1)),
    *(fl.DiagonalLinear(1.0, depth=3, truncation=bound) for bound in (2.0, 100.0)),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dim", type=int, default=2000)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--time-limit", type=float, default=30.0)
    options = parser.parse_args()
    runs = fl.simulate(MODELS, TASK, TRAINING, dim=options.dim, trials=options.trials, key=1)
    print("| model | worst deviation (standard errors) | test error at the end | seconds |\n|---|---|---|---|")
    worst = 0.0
    for model, one in zip(MODELS, runs, strict=True):
        began = time.perf_counter()
        limit = fl.solve_dmft(model, TASK, TRAINING, rtol=1e-2, key=0, time_limit=options.time_limit, throw=False)
        seconds = time.perf_counter() - began
        if not limit.replicas:
            worst = float("inf")
            print(f"| `{model}` | {limit.result.code} | | {seconds:.0f} |", flush=True)
            continue
        found = fl.compare(limit, one).worst[2]
        worst = max(worst, found)
        print(f"| `{model}` | {found:.1f} | {limit.test_error[-1]:.5f} | {seconds:.0f} |", flush=True)
    sys.exit(worst > 4.0)


if __name__ == "__main__":
    main()
