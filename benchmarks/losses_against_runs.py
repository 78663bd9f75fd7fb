"""The limit against simulation for losses other than the squared one, by gradient descent.

python benchmarks/losses_against_runs.py --dim 2000 --trials 20
"""

import argparse
import sys
import time

import jax
import jax.numpy as jnp
from jax.scipy.special import erf

import flowlimit as fl

jax.config.update("jax_enable_x64", True)

QUARTIC = fl.CustomLoss(label=lambda f_star, normal: f_star**2, loss=lambda f, y: 0.25 * (f**2 - y) ** 2)
NORMAL = fl.Normal()


def soft_sign(f):
    """Return what a hidden unit makes of its projection."""
    return erf(f / jnp.sqrt(2.0))


COMMITTEE = fl.CustomLoss(
    label=lambda f_star, normal: jnp.sum(soft_sign(f_star)) + 0.1 * normal,
    loss=lambda f, y: 0.5 * (jnp.sum(soft_sign(f)) - y) ** 2,
)
PRODUCT = fl.CustomLoss(
    label=lambda f_star, normal: jnp.tanh(f_star[0] * f_star[1]),
    loss=lambda f, y: 0.5 * (jnp.tanh(f[0] * f[1]) - y) ** 2,
)
TWO_UNITS = fl.Reparametrized(
    weight=lambda theta: theta, init=lambda normals, w_star: 0.5 * normals + 0.3 * w_star, num_normals=2
)
TWO_TEACHERS = fl.Independent(NORMAL, count=2)
PROBLEMS = {
    "logistic, sign teacher": (
        fl.Linear(),
        fl.Classification(2.0, target=NORMAL),
        fl.GradientDescent(0.5, num_steps=60),
    ),
    "logistic, logistic teacher": (
        fl.Linear(weight_decay=0.1, init_scale=0.5, init_overlap=0.3),
        fl.Classification(1.0, target=NORMAL, slope=2.0),
        fl.GradientDescent(0.5, num_steps=60),
    ),
    "logistic, sparse teacher": (
        fl.DiagonalLinear(0.5),
        fl.Classification(1.0, target=fl.Bernoulli(0.2)),
        fl.GradientDescent(0.5, num_steps=60),
    ),
    "Huber, heavy-tailed noise": (
        fl.Linear(),
        fl.GeneralizedLinear(2.0, target=NORMAL, loss=fl.HuberLoss(threshold=1.0, noise_std=0.5, tail=1.0)),
        fl.GradientDescent(0.2, num_steps=50),
    ),
    "Huber, sparse teacher": (
        fl.DiagonalLinear(0.3, weight_decay=0.05),
        fl.GeneralizedLinear(0.8, target=fl.Bernoulli(0.1), loss=fl.HuberLoss(threshold=0.3, noise_std=0.1, tail=1.0)),
        fl.GradientDescent(0.3, num_steps=60),
    ),
    "phase retrieval, correlated start": (
        fl.Linear(init_scale=0.5, init_overlap=0.5),
        fl.GeneralizedLinear(4.0, target=NORMAL, loss=QUARTIC),
        fl.GradientDescent(0.05, num_steps=60),
    ),
    "committee of two units": (
        TWO_UNITS,
        fl.GeneralizedLinear(2.0, target=TWO_TEACHERS, loss=COMMITTEE),
        fl.GradientDescent(0.5, num_steps=40),
    ),
    "two-index model": (
        TWO_UNITS,
        fl.GeneralizedLinear(3.0, target=TWO_TEACHERS, loss=PRODUCT),
        fl.GradientDescent(0.5, num_steps=40),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dim", type=int, default=2000)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--time-limit", type=float, default=40.0)
    parser.add_argument("--only", default="", help="part of the names of the problems to run")
    options = parser.parse_args()
    print("| problem | worst deviation (standard errors) | test error's relative bar | seconds |\n|---|---|---|---|")
    worst = 0.0
    for name, problem in PROBLEMS.items():
        if options.only not in name:
            continue
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
