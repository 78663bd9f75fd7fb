"""What every process of slurm_distributed.sh runs: the same calls in the same order, on the devices of all of them."""

import jax


def main() -> None:
    """Join the others, solve one problem with its paths over all devices, and write it once."""
    # Before anything is computed. Under Slurm it finds the coordinator and its own rank; elsewhere give
    # jax.distributed.initialize("host:port", number_of_processes, rank).
    jax.distributed.initialize()
    import flowlimit as fl

    print(f"process {jax.process_index()} of {jax.process_count()}, devices {len(jax.devices())}")
    model = fl.DiagonalLinear(init_scale=0.3)
    task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    training = fl.GradientDescent(step_size=0.2, num_steps=12)
    limit = fl.solve_dmft(model, task, training, rtol=0.05, key=0, devices=jax.devices())
    if jax.process_index() == 0:
        fl.save(limit, "limit.zarr", overwrite=True)
        print(limit)


if __name__ == "__main__":
    main()
