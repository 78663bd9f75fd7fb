"""What every process of slurm_distributed.sh runs: the same calls in the same order, on the devices of all of them."""

import jax


def main() -> None:
    """Join the others, see that all are there, and work."""
    # Before anything is computed. Under Slurm it finds the coordinator and its own rank; elsewhere give
    # jax.distributed.initialize("host:port", number_of_processes, rank).
    jax.distributed.initialize()
    import flowlimit  # noqa: F401  sets double precision

    rank, count = jax.process_index(), jax.process_count()
    print(f"process {rank} of {count}: devices {jax.devices()}, of them here {jax.local_devices()}")
    total = sum_over_devices()
    assert total == len(jax.devices()) * (len(jax.devices()) + 1) / 2, total
    # The work itself, the same in every process; one of them writes:
    #   if rank == 0: fl.save(limit, "limit.zarr")
    if rank == 0:
        print(f"all-reduce over {len(jax.devices())} devices: {total:g}")


def sum_over_devices() -> float:
    """Return 1 + 2 + ... + n, the k-th number living on the k-th device."""
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec

    mesh = jax.make_mesh((len(jax.devices()),), ("devices",), devices=jax.devices())
    own = NamedSharding(mesh, PartitionSpec("devices"))
    everywhere = NamedSharding(mesh, PartitionSpec())
    numbers = np.arange(1.0, len(jax.devices()) + 1.0)
    spread = jax.make_array_from_callback(numbers.shape, own, lambda index: numbers[index])
    return float(jax.jit(jnp.sum, out_shardings=everywhere)(spread))


if __name__ == "__main__":
    main()
