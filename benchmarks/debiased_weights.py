"""How often intervals of debiased weights hold the target weights, on data sets that are drawn.

    python benchmarks/debiased_weights.py --sets 50

Isotropic data of normal, Student-5 and binary entries; three models and three times each. Lines give the part of the
intervals of 95% that hold their target, for weights that are 0 and for those that are 1, the mean error of the latter
(0 without bias; that of the trained weights beside it), and the standard error of the first part over data sets.
"""

import argparse
import itertools
import json
from collections.abc import Iterator

import numpy as np
import own_data

import flowlimit as fl

MODELS = [fl.DiagonalLinear(0.1), fl.DiagonalLinear(1.0), fl.Linear()]
TRAINING = fl.GradientDescent(0.25, num_steps=60)
TIMES = (2.0, 5.0, 15.0)


def one_set(seed: int, samples: int, dim: int, entries: str) -> dict:
    rng = np.random.default_rng([seed, samples, dim, 2])
    X, y, w_star = own_data.draw(rng, samples, np.eye(dim), entries, noise_var=0.1)
    selection = fl.select(MODELS, fl.Dataset(X, y), TRAINING, probes=8, key=seed)
    found = {}
    for (index, estimate), t in itertools.product(enumerate(selection.estimates), TIMES):
        debiased = fl.debias(estimate, time=t)
        held = (debiased.low <= w_star) & (w_star <= debiased.high)
        at = int(np.abs(estimate.times - t).argmin())
        found[index, t] = (
            held[w_star == 0.0].mean(),
            held[w_star == 1.0].mean(),
            (debiased.weights - w_star)[w_star == 1.0].mean(),
            (estimate.weights[at] - w_star)[w_star == 1.0].mean(),
        )
    return found


def campaign(arguments: argparse.Namespace) -> Iterator[dict]:
    """Yield a line for each kind of entries, model and time."""
    samples, dim = arguments.size
    for entries in arguments.entries:
        seeds = range(arguments.first_seed, arguments.first_seed + arguments.sets)
        found = [one_set(seed, samples, dim, entries) for seed in seeds]
        for index, t in found[0]:
            zero, one, bias, before = np.array([each[index, t] for each in found]).T
            yield {
                **{"entries": entries, "model": repr(MODELS[index]), "time": t, "sets": len(found)},
                **{"held_zero": float(zero.mean()), "held_zero_stderr": float(zero.std(ddof=1) / len(found) ** 0.5)},
                **{"held_one": float(one.mean()), "held_one_stderr": float(one.std(ddof=1) / len(found) ** 0.5)},
                **{"bias": float(bias.mean()), "bias_stderr": float(bias.std(ddof=1) / len(found) ** 0.5)},
                "bias_of_trained": float(before.mean()),
            }


def parse(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=50)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--size", type=lambda text: tuple(map(int, text.split("x"))), default=(250, 500))
    parser.add_argument("--entries", nargs="+", default=list(own_data.ENTRIES), choices=own_data.ENTRIES)
    return parser.parse_args(words)


if __name__ == "__main__":
    for line in campaign(parse()):
        print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in line.items()}), flush=True)
