"""Sweeps on a real Dask cluster, whose workers and clients are killed: no number is lost and none is changed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import cheap
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.sweeps.local import local_cluster
from flowlimit.sweeps.store import Store

distributed = pytest.importorskip("distributed")
CLIENT = [sys.executable, str(Path(__file__).parent / "client.py")]


@pytest.fixture(scope="module")
def client():
    with local_cluster(2) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    path = tmp_path_factory.mktemp("undisturbed") / "a.zarr"
    cheap.run(path)
    return cheap.chunks(path)


def assert_whole(path, undisturbed):
    assert sorted(Store(path).done()) == list(range(cheap.BLOCKS))
    assert cheap.chunks(path) == undisturbed
    (failure,) = fl.open_sweep(path).failures
    assert "a point that fails" in failure.outcome.message


def test_both_workers_compute_what_one_process_does(client, tmp_path, undisturbed):
    cheap.run(tmp_path / "a.zarr", executor=client)
    assert_whole(tmp_path / "a.zarr", undisturbed)
    assert len({mark["worker"] for mark in Store(tmp_path / "a.zarr").marks().values()}) == 2


@pytest.mark.parametrize("protocol", ["tcp", "tls"])
def test_others_on_the_machine_can_not_give_it_work(client, protocol):
    """Without the cluster's certificate a client is not let in; on an open scheduler this ran code as its owner."""
    stranger = distributed.Security() if protocol == "tcp" else distributed.Security.temporary()
    address = f"{protocol}://{client.scheduler.address.partition('://')[2]}"
    with pytest.raises((OSError, TypeError, RuntimeError)):
        distributed.Client(address, security=stranger, timeout=5).submit(os.getuid).result(timeout=5)


def test_a_killed_worker_costs_no_point(client, tmp_path, undisturbed):
    calls = []

    def kill_in_the_middle(fraction, message):
        calls.append(fraction)
        if len(calls) == 4:
            os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)

    table = cheap.run(tmp_path / "a.zarr", executor=client, progress=kill_in_the_middle)
    assert table.missing == 0
    assert_whole(tmp_path / "a.zarr", undisturbed)


def test_a_worker_killed_before_its_mark_costs_no_point(client, tmp_path, undisturbed):
    client.wait_for_workers(2)
    client.run(cheap.die_before_mark, 5, str(tmp_path / "died"))
    cheap.run(tmp_path / "a.zarr", executor=client)
    assert (tmp_path / "died").exists()
    assert_whole(tmp_path / "a.zarr", undisturbed)


def test_closed_forms_are_the_same_to_the_bit(client, tmp_path):
    over = {"model.init_scale": np.geomspace(1e-3, 1.0, 150), "task.noise_var": [0.0, 0.1]}
    client.wait_for_workers(2)
    for name, executor in (("here", None), ("there", client)):
        fl.sweep(
            fl.timescales, cheap.MODEL, cheap.TASK, over=over, store=tmp_path / name, block_size=32, executor=executor
        )
    assert cheap.chunks(tmp_path / "here") == cheap.chunks(tmp_path / "there")


@pytest.mark.parametrize(("lines", "options"), [(1, []), (6, []), (6, ["--dask"])], ids=["first", "middle", "Dask"])
def test_a_killed_client_is_resumed(lines, options, tmp_path, undisturbed):
    with subprocess.Popen([*CLIENT, str(tmp_path / "a.zarr"), *options], stdout=subprocess.PIPE, text=True) as process:
        for _ in range(lines):
            process.stdout.readline()
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert_resumed(tmp_path / "a.zarr", undisturbed)


@pytest.mark.parametrize("options", [("--before-mark", "0"), ("--before-mark", "7"), ("--within-data", "7")])
def test_a_client_killed_while_it_writes_is_resumed(options, tmp_path, undisturbed):
    done = subprocess.run([*CLIENT, str(tmp_path / "a.zarr"), *options], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    block = int(options[1])
    assert sorted(Store(tmp_path / "a.zarr").marks()) == list(range(block))
    written = {name.partition("/")[0] for name in cheap.chunks(tmp_path / "a.zarr") if f"/c/{block}" in name}
    assert written - {"factor"} == {"result", "product"} | ({"powers"} if options[0] == "--before-mark" else set())
    assert_resumed(tmp_path / "a.zarr", undisturbed)


def assert_resumed(path, undisturbed):
    """The same call computes what is missing, and no more."""
    before = set(Store(path).done())
    assert len(before) < cheap.BLOCKS
    began = time.time()
    cheap.run(path)
    assert_whole(path, undisturbed)
    kept = [path / "marks" / f"block-{block:08d}.json" for block in before]
    assert all(mark.stat().st_mtime < began for mark in kept)
