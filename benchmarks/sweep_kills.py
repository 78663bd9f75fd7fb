"""Random kills: a store that was resumed after each of them is the undisturbed one, bit for bit.

    python benchmarks/sweep_kills.py --kills 100 --key 0

A sweep of fixed points runs in a client process, on two Dask workers or by itself. At random moments one is killed by
SIGKILL: a worker (the sweep goes on), the client (it is started again), or whichever of them has just written a block's
data and not yet its mark. If a sweep is complete before all kills are done, another is begun. At the end all files of
all stores but the marks, which tell seconds and workers, are compared with those of a sweep that nobody disturbed.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil

BLOCK_SIZE, BLOCKS = 16, 200
LONGEST = 0.6
"""Seconds from a sign of life to a kill, at most."""


def run(folder: Path, workers: int) -> None:
    """The client: sweep, and print a line at the begin and for each block."""
    import flowlimit as fl

    task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    axes = {"model.init_scale": np.geomspace(0.01, 10.0, 80), "task.aspect_ratio": np.linspace(0.1, 2.0, 40)}
    tell = lambda fraction, message: print(message, flush=True)
    sweep = lambda executor: fl.sweep(
        *(fl.fixed_point, fl.DiagonalLinear(0.3), task),
        over=axes,
        store=folder / "sweep.zarr",
        block_size=BLOCK_SIZE,
        executor=executor,
        progress=tell,
    )
    if not workers:
        arm(folder)
        print("begun", flush=True)
        sweep(None)
        return
    from distributed import Client, LocalCluster, WorkerPlugin

    class Arm(WorkerPlugin):
        """Every worker is armed, also those that take a dead one's place."""

        def setup(self, worker: Any) -> None:
            arm(folder)

    # threads of XLA are fixed: with another number of them sums may be taken in another order
    settings = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "env": {"NPROC": "1"}}
    with LocalCluster(workers, **settings) as cluster, Client(cluster) as client:
        client.register_plugin(Arm())
        print("begun", flush=True)
        sweep(client)


def arm(folder: Path) -> None:
    """Note each block that is begun; whoever finds the file ``trigger`` is killed between its data and its mark."""
    from flowlimit.sweeps import job, store
    from flowlimit.sweeps.store import Store

    rows, put = job._rows, store.put_mark

    def noted_rows(own: job.Job, into: Store) -> Any:
        with (folder / "journal").open("a") as journal:
            journal.write(f"{own.block}\n")
        return rows(own, into)

    def put_or_die(path: Path, mark: Any) -> None:
        try:
            (folder / "trigger").rename(folder / "pulled")
        except FileNotFoundError:
            put(path, mark)
        else:
            os.kill(os.getpid(), signal.SIGKILL)

    job._rows, store.put_mark = noted_rows, put_or_die


class Campaign:
    """Kills that are left, and what became of those done."""

    def __init__(self, kills: int, key: int, folder: Path) -> None:
        self.rng = np.random.default_rng(key)
        self.left, self.folder = kills, folder
        self.counts: Counter[str] = Counter()
        cache = {
            "JAX_COMPILATION_CACHE_DIR": str(folder / "jax-cache"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }
        self.environment = os.environ | cache | {"NPROC": "1", "JAX_PLATFORMS": "cpu"}

    def sweep(self, folder: Path) -> None:
        """Run the client again and again, until it ends well."""
        folder.mkdir()
        while True:
            workers = 2 if self.left and self.rng.random() < 0.75 else 0
            if self._session(folder, workers):
                return

    def _session(self, folder: Path, workers: int) -> bool:
        """Run the client once, with kills; return whether the sweep is complete."""
        words = [sys.executable, __file__, "--client", str(folder), "--workers", str(workers)]
        with (folder / "client.log").open("a") as log:
            client = subprocess.Popen(words, env=self.environment, stdout=subprocess.PIPE, stderr=log, text=True)
        orphans: list[psutil.Process] = []
        assert client.stdout is not None
        try:
            lines = iter(client.stdout)
            while self.left and _read(lines, int(self.rng.integers(1, 8))):
                time.sleep(float(self.rng.uniform(0.0, LONGEST)))
                orphans = workers_of(client)
                self._kill(folder, client, lines, orphans)
            _read(lines, 10**9)
            client.wait()
        finally:
            client.kill()
            client.wait()
            psutil.wait_procs(orphans, timeout=30)  # they see that their client is gone
        if client.returncode not in (0, -signal.SIGKILL):
            said = (folder / "client.log").read_text()
            # a block whose workers died four times is given up by Dask, until the same call is made again
            if "blocks were lost" not in said:
                raise RuntimeError(said[-3000:])
            self.counts["sweeps ended by lost blocks"] += 1
        return client.returncode == 0

    def _kill(
        self, folder: Path, client: subprocess.Popen, lines: Iterator[str], workers: list[psutil.Process]
    ) -> None:
        kinds = ["client", "before mark", *(["worker"] if workers else [])]
        kind = str(self.rng.choice(kinds))
        if kind == "before mark":
            (folder / "pulled").unlink(missing_ok=True)
            (folder / "trigger").touch()
            while client.poll() is None and not (folder / "pulled").exists() and _read(lines, 1):
                pass
            if (folder / "trigger").exists():  # the sweep was complete before
                (folder / "trigger").unlink()
                return
            kind = f"{'worker' if workers else 'client'} before mark"
        elif client.poll() is not None:
            return
        elif kind == "client":
            client.kill()
        else:
            workers[int(self.rng.integers(len(workers)))].kill()
        self.counts[kind] += 1
        self.left -= 1
        print(f"{sum(self.counts.values())}: {kind}, {len(marks(folder))} of {BLOCKS} blocks marked", flush=True)


def _read(lines: Iterator[str], count: int) -> bool:
    """Read some lines of a client; return whether it was still there to print them."""
    return all(next(lines, None) is not None for _ in range(count))


def workers_of(client: subprocess.Popen) -> list[psutil.Process]:
    """Return the worker processes of a client, as they are now."""
    try:
        every = psutil.Process(client.pid).children(recursive=True)
        return [process for process in every if "spawn_main" in " ".join(process.cmdline())]
    except psutil.NoSuchProcess:
        return []


def marks(folder: Path) -> list[Path]:
    return list((folder / "sweep.zarr" / "marks").glob("block-*.json"))


def files(folder: Path) -> dict[str, bytes]:
    """Return all files of a store but marks, and what a killed process left half written."""
    store = folder / "sweep.zarr"
    every = (path for path in sorted(store.rglob("*")) if path.is_file() and path.suffix != ".partial")
    named = {path.relative_to(store).as_posix(): path.read_bytes() for path in every}
    return {name: data for name, data in named.items() if not name.startswith("marks/")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--key", type=int, default=0)
    parser.add_argument("--client", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.client is not None:
        run(options.client, options.workers)
        return 0
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        Campaign(0, 0, folder).sweep(folder / "undisturbed")
        known = files(folder / "undisturbed")
        campaign = Campaign(options.kills, options.key, folder)
        again, stores, equal = 0, 0, True
        while campaign.left or not stores:
            own = folder / f"disturbed-{stores}"
            campaign.sweep(own)
            stores += 1
            again += len((own / "journal").read_text().split()) - BLOCKS
            equal = equal and len(marks(own)) == BLOCKS and files(own) == known
    for kind, count in sorted(campaign.counts.items()):
        print(f"{kind:30} {count:5}")
    print(f"{'sweeps':30} {stores:5} of {BLOCKS} blocks")
    print(f"{'blocks begun again':30} {again:5}")
    print(f"{'seconds':30} {time.perf_counter() - began:5.0f}")
    print(f"{len(known)} files: {'equal bit for bit' if equal else 'NOT EQUAL'}")
    return int(not equal)


if __name__ == "__main__":
    raise SystemExit(main())
