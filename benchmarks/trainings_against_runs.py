"""Every training's limit against simulation, along the whole run, for a linear model and a diagonal network.

python benchmarks/trainings_against_runs.py --dim 2000 --trials 20
"""

import argparse
import sys
import time

import numpy as np

import flowlimit as fl

COSINE = lambda i: 0.1 * (1 + np.cos(np.pi * i / 40))
TRAININGS = {
    "batches of .5": fl.StochasticGradientDescent(0.5, step_size=0.2, num_steps=40),
    "batches of .1": fl.StochasticGradientDescent(0.1, step_size=0.05, num_steps=40),
    "kept batch of .5": fl.StochasticGradientDescent(0.5, step_size=0.1, num_steps=40, persistent=True),
    "kept batch of .1": fl.StochasticGradientDescent(0.1, step_size=0.02, num_steps=40, persistent=True),
    "momentum .9": fl.GradientDescent(0.05, num_steps=40, momentum=0.9),
    "Nesterov .9": fl.GradientDescent(0.05, num_steps=40, momentum=0.9, nesterov=True),
    "Langevin, temperature .001": fl.Langevin(0.001, step_size=0.1, num_steps=40),
    "Langevin, temperature .01": fl.Langevin(0.01, step_size=0.1, num_steps=40),
    "fresh labels": fl.StochasticGradientDescent(1.0, step_size=0.1, num_steps=40, label_noise=0.5),
    "cosine schedule": fl.GradientDescent(COSINE, num_steps=40),
}
PROBLEMS = {
    "linear": (fl.Linear(0.1, init_scale=0.5, init_overlap=0.2), fl.Regression(2.0, noise_var=0.1, target=fl.Normal())),
    "network": (
        fl.DiagonalLinear(0.5, weight_decay=0.05),
        fl.Regression(2.0, noise_var=0.05, target=fl.Bernoulli(0.2)),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dim", type=int, default=2000)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--rtol", type=float, default=2e-2)
    parser.add_argument("--time-limit", type=float, default=60.0)
    options = parser.parse_args()
    print("| training | model | worst deviation (standard errors) | last test error | seconds |")
    print("|---|---|---|---|---|")
    worst = 0.0
    for name, training in TRAININGS.items():
        for kind, (model, task) in PROBLEMS.items():
            began = time.perf_counter()
            limit = fl.solve_dmft(model, task, training, rtol=options.rtol, time_limit=options.time_limit, throw=False)
            seconds = time.perf_counter() - began
            runs = fl.simulate(model, task, training, dim=options.dim, trials=options.trials, key=2)
            found = fl.compare(limit, runs, names=["train_error", "test_error", "loss"]).worst[2]
            worst = max(worst, found)
            end = f"{limit.test_error[-1]:.5f}({limit.test_error_stderr[-1]:.5f})"
            print(f"| {name} | {kind} | {found:.1f} | {end} | {seconds:.0f} |", flush=True)
    sys.exit(worst > 4.0)


if __name__ == "__main__":
    main()
