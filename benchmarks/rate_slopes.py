"""The slope d log(gamma)/d log(alpha) (total) over random problems: proved positive above aspect ratio 1, mapped below.

python benchmarks/rate_slopes.py --problems 4000
"""

import argparse
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import flowlimit as fl

jax.config.update("jax_enable_x64", True)

LAWS = (fl.Bernoulli, fl.SparseRademacher, fl.BernoulliGauss)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=4000)
    options = parser.parse_args()
    rng, count = np.random.default_rng(0), options.problems // len(LAWS)
    print("| target | aspect ratio | problems | negative | least slope | where (init scale, ratio, noise, p) |")
    print("|---|---|---|---|---|---|")
    for law in LAWS:
        for case, low, high in (("interpolating", 0.05, 0.98), ("ridgeless", 1.02, 5.0)):
            scale, noise = 10.0 ** rng.uniform(-3, 1, count), 10.0 ** rng.uniform(-4, 0, count)
            given = [scale, rng.uniform(low, high, count), noise, rng.uniform(0.02, 0.9, count)]

            def log_gamma(log_scale, ratio, noise, p, law: Any = law, case: Any = case):
                task = fl.Regression(ratio, noise_var=noise, target=law(p))
                return jnp.log(fl.convergence_rate(fl.DiagonalLinear(jnp.exp(log_scale)), task, case=case).gamma)

            slopes = np.asarray(jax.vmap(jax.grad(log_gamma))(jnp.log(scale), *map(jnp.asarray, given[1:])))
            worst = int(np.nanargmin(slopes))
            where = ", ".join(f"{float(x[worst]):.3g}" for x in given)
            side = "below 1" if case == "interpolating" else "above 1"
            negative = int((slopes < 0.0).sum())
            print(f"| {law.__name__} | {side} | {count} | {negative} | {slopes[worst]:.4f} | {where} |", flush=True)


if __name__ == "__main__":
    main()
