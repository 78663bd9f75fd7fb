"""A sweep by Dask workers that Slurm starts, one per job, and replaces when they die.

    python slurm_dask.py sweep.zarr --jobs 8

Run it where `sbatch` works and where it may stay for as long as the sweep takes: on a login node under tmux, or as a
separate small job. If it ends early, run it again: what is in the store is not computed again.

Change: what a worker is given in `cluster`, how flowlimit is activated there, and the sweep in `main`. What belongs to
your site can stand in ~/.config/dask/jobqueue.yaml instead, or in variables such as DASK_JOBQUEUE__SLURM__QUEUE=short
and DASK_JOBQUEUE__SLURM__INTERFACE=ib0 (the network by which workers and this script see each other).
The store is a directory that all nodes see.
"""

import argparse
import logging
from pathlib import Path
from typing import Any

import numpy as np

import flowlimit as fl


def cluster(folder: Path) -> Any:
    """Return a cluster without workers yet, whose certificates lie in a folder that all nodes see."""
    from dask_jobqueue.slurm import SLURMCluster

    return SLURMCluster(
        cores=1,
        processes=1,
        memory="2GB",
        walltime="01:00:00",
        # Workers leave a little before Slurm ends their jobs, one after the other, and new ones are started.
        worker_extra_args=["--lifetime", "55m", "--lifetime-stagger", "4m", "--dashboard-address", "127.0.0.1:0"],
        # Whoever a scheduler takes work from runs code as you: only those who can read this sweep's certificates.
        security=True,
        shared_temp_directory=str(folder),
        job_script_prologue=[
            # '. "$HOME/flowlimit/bin/activate"',
            "export NPROC=1",  # threads of XLA, which would take every core of the node
            "export JAX_COMPILATION_CACHE_DIR=${JAX_COMPILATION_CACHE_DIR:-$HOME/.cache/flowlimit}",
        ],
    )


def main() -> None:
    """Sweep."""
    from distributed import Client

    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    parser.add_argument("--jobs", type=int, default=8)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO)

    model = fl.DiagonalLinear(init_scale=0.3)
    task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    axes = {"model.init_scale": np.geomspace(1e-3, 1.0, 40), "task.noise_var": np.linspace(0.0, 0.5, 40)}

    folder = Path(options.store).resolve().parent / ".flowlimit-tls"
    folder.mkdir(mode=0o700, exist_ok=True)  # nobody else may read it
    with cluster(folder) as jobs, Client(jobs) as client:
        jobs.adapt(minimum_jobs=options.jobs, maximum_jobs=options.jobs)  # as many as this, also after some died
        client.wait_for_workers(1)
        table = fl.sweep(fl.timescales, model, task, over=axes, store=options.store, executor=client)
    print(table)


if __name__ == "__main__":
    main()
