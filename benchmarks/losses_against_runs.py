"""The limit against simulation for losses other than the squared one, by gradient descent.

python benchmarks/losses_against_runs.py --dim 2000 --trials 20
"""

import argparse
import sys
import time

import flowlimit as fl

QUARTIC = fl.CustomLoss(label=lambda f_star, normal: f_star**2, loss=lambda f, y: 0.25 * (f**2 - y) ** 2)
NORMAL = fl.Normal()
PROBLEMS = {
    "logistic, sign teacher": (fl.Linear(), fl.Classification(2.0, NORMAL), fl.GradientDescent(0.5, 60)),
    "logistic, logistic teacher": (
        fl.Linear(weight_decay=0.1, init_scale=0.5, init_overlap=0.3),
        fl.Classification(1.0, NORMAL, slope=2.0),
        fl.GradientDescent(0.5, 60),
    ),
    "logistic, sparse teacher": (
        fl.DiagonalLinear(0.5),
        fl.Classification(1.0, fl.Bernoulli(0.2)),
        fl.GradientDescent(0.5, 60),
    ),
    "Huber, heavy-tailed noise": (
        fl.Linear(),
        fl.GeneralizedLinear(2.0, NORMAL, fl.HuberLoss(threshold=1.0, noise_std=0.5, tail=1.0)),
        fl.GradientDescent(0.2, 50),
    ),
    "Huber, sparse teacher": (
        fl.DiagonalLinear(0.3, weight_decay=0.05),
        fl.GeneralizedLinear(0.8, fl.Bernoulli(0.1), fl.HuberLoss(threshold=0.3, noise_std=0.1, tail=1.0)),
        fl.GradientDescent(0.3, 60),
    ),
    "phase retrieval, correlated start": (
        fl.Linear(init_scale=0.5, init_overlap=0.5),
        fl.GeneralizedLinear(4.0, NORMAL, QUARTIC),
        fl.GradientDescent(0.05, 60),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dim", type=int, default=2000)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--time-limit", type=float, default=40.0)
    options = parser.parse_args()
    print("| problem | worst deviation (standard errors) | test error's relative bar | seconds |\n|---|---|---|---|")
    worst = 0.0
    for name, problem in PROBLEMS.items():
        began = time.perf_counter()
        limit = fl.solve_dmft(*problem, rtol=1e-2, key=0, time_limit=options.time_limit)
        seconds = time.perf_counter() - began
        runs = fl.simulate(*problem, dim=options.dim, trials=options.trials, key=2)
        found = fl.compare(limit, runs, names=["train_error", "test_error", "loss"])
        bar = float((limit.test_error_stderr / limit.test_error).max())
        worst = max(worst, found.worst[2])
        print(f"| {name} | {found.worst[2]:.1f} | {bar:.1e} | {seconds:.0f} |", flush=True)
    sys.exit(worst > 4.0)


if __name__ == "__main__":
    main()
