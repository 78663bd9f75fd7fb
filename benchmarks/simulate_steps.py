"""Gradient descent against a bare jitted scan of the same two matrix products a step, in one run.

    python benchmarks/simulate_steps.py [--dim 2000] [--models 16] [--steps 500] [--repeats 5]

Prints the median over repeats of the ratio of warm times; the two are timed in turn, so that a busy machine slows both.
"""

import argparse
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np

import flowlimit as fl

jax.config.update("jax_enable_x64", True)


def bare_scan(X, y, weights, steps):
    """Run the two matrix products of every step and the least arithmetic that keeps them alive."""
    delta = X.shape[0] / X.shape[1]

    @jax.jit
    def run(X, y, weights):
        def step(w, _):
            residual = w @ X.T - y
            return w - 1e-3 * (residual @ X) / delta, jnp.mean(residual**2, axis=1)

        return jax.lax.scan(step, weights, None, length=steps)

    return lambda: jax.block_until_ready(run(X, y, weights))


def seconds(call):
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dim", type=int, default=2000)
    parser.add_argument("--models", type=int, default=16)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    samples = options.dim // 2
    rng = np.random.default_rng(0)
    X = rng.normal(size=(samples, options.dim)) / np.sqrt(options.dim)
    w_star = (rng.random(options.dim) < 0.1).astype(float)
    y = X @ w_star + 0.1 * rng.normal(size=samples)
    data = fl.Dataset(X, y, w_star=w_star, noise_var=0.01)
    models = [fl.DiagonalLinear(init_scale=scale) for scale in np.geomspace(0.01, 1.0, options.models)]
    training = fl.GradientDescent(step_size=0.1, num_steps=options.steps)

    bare = bare_scan(
        data.X, jnp.tile(data.y, (options.models, 1)), jnp.zeros((options.models, options.dim)), options.steps
    )
    ours = lambda: fl.simulate(models, data, training)
    for warm_up in (bare, ours):
        warm_up()
    pairs = [(seconds(bare), seconds(ours)) for _ in range(options.repeats)]
    ratios = [b / a for a, b in pairs]
    print(f"dim {options.dim}, samples {samples}, {options.models} models, {options.steps} steps")
    print(f"bare scan {min(a for a, _ in pairs):.3f} s, simulate {min(b for _, b in pairs):.3f} s")
    print(
        f"ratio {statistics.median(ratios):.3f} (median of {options.repeats}; {min(ratios):.3f} to {max(ratios):.3f})"
    )


if __name__ == "__main__":
    main()
