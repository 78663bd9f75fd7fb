"""What every process of slurm_distributed.sh runs: the same calls in the same order, on the devices of all of them.

Change: the problem in `main`. A simulation is spread by fl.simulate(..., devices=jax.devices(), devices_per_trial=...).
"""

import argparse
from pathlib import Path

import jax


def main() -> None:
    """Join the others, solve together, and let one process write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", nargs="?", type=Path, default=Path("limit.zarr"))
    parser.add_argument("--num-steps", type=int, default=1000)
    parser.add_argument("--rtol", type=float, default=1e-3)
    options = parser.parse_args()
    if options.out.exists() or not options.out.parent.is_dir():  # now, and not after hours of work
        parser.error(f"{options.out} exists, or its folder does not; give another path")
    # Before anything is computed. Under Slurm it finds the coordinator and its own rank; elsewhere give
    # jax.distributed.initialize("host:port", number_of_processes, rank).
    jax.distributed.initialize()
    import flowlimit as fl

    rank = jax.process_index()
    print(f"process {rank} of {jax.process_count()} has {len(jax.local_devices())} of {len(jax.devices())} devices")
    model = fl.DiagonalLinear(init_scale=0.3)
    task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    training = fl.GradientDescent(step_size=0.1, num_steps=options.num_steps)
    limit = fl.solve_dmft(model, task, training, rtol=options.rtol, devices=jax.devices())
    if rank == 0:
        fl.save(limit, options.out)
        print(limit)


if __name__ == "__main__":
    main()
