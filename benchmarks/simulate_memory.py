"""Peak memory of a large run, in a process of its own.

    python benchmarks/simulate_memory.py [--dim 20000] [--models 8] [--steps 50] [--devices 1]

Prints the data's size, the peak resident memory of the process, and the seconds.
"""

import argparse
import os
import resource
import time


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dim", type=int, default=20_000)
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--trials", type=int, default=None, help="one a device unless given")
    options = parser.parse_args()
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={options.devices}"

    import numpy as np

    import flowlimit as fl

    models = [fl.DiagonalLinear(init_scale=scale) for scale in np.geomspace(0.01, 1.0, options.models)]
    task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    training = fl.GradientDescent(step_size=0.1, num_steps=options.steps)
    began = time.perf_counter()
    results = fl.simulate(models, task, training, dim=options.dim, trials=options.trials or options.devices)
    seconds = time.perf_counter() - began
    data = 8 * options.dim * task.samples(options.dim) / 1e9
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(f"data {data:.2f} GB a trial, peak memory {peak:.2f} GB, {seconds:.1f} s on {options.devices} device(s)")
    for runs in results:
        print(f"  init scale {runs.provenance['problem']['model']['init_scale']:.3g}: ", end="")
        print("train error", *(repr(float(x)) for x in runs.values["train_error"][:, -1]))


if __name__ == "__main__":
    main()
