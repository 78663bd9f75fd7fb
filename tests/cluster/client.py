"""A sweep in a process of its own, to be killed from outside, or by itself while it writes a given block."""

import argparse

import cheap
import jax

jax.config.update("jax_enable_x64", True)  # as in the tests: it counts for a user's function


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    parser.add_argument("--before-mark", type=int)
    parser.add_argument("--within-data", type=int)
    parser.add_argument("--dask", action="store_true")
    options = parser.parse_args()
    if options.before_mark is not None:
        cheap.die_before_mark(options.before_mark)
    if options.within_data is not None:
        cheap.die_within_data(options.within_data)
    tell = lambda fraction, message: print(message, flush=True)
    if not options.dask:
        cheap.run(options.store, progress=tell)
        return
    from distributed import Client

    from flowlimit.sweeps.local import local_cluster

    with local_cluster(2) as cluster, Client(cluster) as client:
        cheap.run(options.store, executor=client, progress=tell)


if __name__ == "__main__":
    main()
