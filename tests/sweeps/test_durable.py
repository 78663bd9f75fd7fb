"""Damaged stores, lost power and processes that would hang."""

import contextlib
import itertools
import os
import subprocess
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import power
import pytest

import flowlimit as fl
from flowlimit.numerics import disk

MODEL = fl.DiagonalLinear(0.3)
TASK = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))


def squares(model, task, *, x):
    CALLS.append(x)
    return {"square": x**2, "curve": np.array([x, 2.0 * x])}


CALLS = []
AXES = {"x": [float(i) for i in range(7)]}  # blocks of 3, 3 and 1: the last is shorter than its chunk


def swept(path):
    """Return the table and the points that were computed for it, without the one that tells what a row is."""
    CALLS.clear()
    table = fl.sweep(squares, MODEL, TASK, over=AXES, store=path, block_size=3)
    return table, sorted(CALLS)


def empty(path):
    path.write_bytes(b"")


def flip(path):
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)


def remove(path):
    path.unlink()


@pytest.mark.parametrize("damage", [empty, flip, remove])
@pytest.mark.parametrize(
    ("chunk", "lost"), [("square/c/0", [0.0, 1.0, 2.0]), ("curve/c/2/0", [6.0]), ("square/c/2", [6.0])]
)
def test_a_damaged_block_is_computed_again(tmp_path, damage, chunk, lost):
    path = tmp_path / "a.zarr"
    swept(path)
    damage(path / chunk)
    table, computed = swept(path)
    assert computed == lost
    assert table["square"].values.tolist() == [x**2 for x in AXES["x"]]
    assert table["curve"].values[:, 1].tolist() == [2.0 * x for x in AXES["x"]]
    assert swept(path)[1] == []


def test_data_are_on_the_disk_before_their_mark(tmp_path, monkeypatch):
    events, replace = [], type(tmp_path).replace
    path = tmp_path / "a.zarr"

    def fsync(handle, real=os.fsync):
        real(handle)
        events.append(os.readlink(f"/proc/self/fd/{handle}"))

    def rename(own, other):
        events.append(f"renamed to {other}")
        return replace(own, other)

    monkeypatch.setattr(disk.os, "fsync", fsync)
    monkeypatch.setattr(type(tmp_path), "replace", rename)
    swept(path)
    for block in range(3):
        mark = events.index(f"renamed to {path}/marks/block-{block:08d}.json")
        for chunk in (f"square/c/{block}", f"curve/c/{block}/0", f"result/c/{block}", "square/c", "square", "curve/c"):
            assert str(path / chunk) in events[:mark], chunk
        assert str(path / "marks") in events[mark:]


def test_processes_that_fork_are_refused():
    refused = pytest.raises(ValueError, match=r"given a ProcessPoolExecutor that forks.*get_context\('spawn'\)")
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool, refused:
        fl.sweep(fl.timescales, MODEL, TASK, over={"model.init_scale": [0.1, 0.3]}, executor=pool)


@pytest.mark.slow
def test_processes_that_start_anew_work(tmp_path):
    axes = {"model.init_scale": [0.1, 0.2, 0.3]}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        there = fl.sweep(fl.timescales, MODEL, TASK, over=axes, block_size=1, executor=pool)
    here = fl.sweep(fl.timescales, MODEL, TASK, over=axes)
    for name in here.points.data_vars:
        assert np.array_equal(there[name].values, here[name].values, equal_nan=True), name


def bits(path):
    """Every number of a sweep, bit for bit."""
    table = fl.open_sweep(path)
    return {name: table[name].to_numpy().tobytes() for name in ("result", "square", "curve")}


def swept_until(machine, path, monkeypatch):
    """Sweep until the power goes; return the parts that were reported done, and whether it went."""
    reported = []
    CALLS.clear()  # a global that the swept function reads counts for its fingerprint
    tell = lambda fraction, message: reported.append(fraction)
    with monkeypatch.context() as patched:
        patched.setattr(disk.os, "fsync", machine.fsync)
        try:
            fl.sweep(squares, MODEL, TASK, over=AXES, store=path, block_size=3, progress=tell)
        except power.PowerLost:
            return reported, True
    return reported, False


@pytest.mark.slow
def test_power_may_go_at_any_moment(tmp_path, monkeypatch):
    """At every sync of a sweep: what was reported done is there, and the resumed store is the undisturbed one."""
    swept(tmp_path / "known.zarr")
    known = bits(tmp_path / "known.zarr")
    for last in itertools.count():
        folder, machine = tmp_path / f"{last}", power.Disk(last)
        folder.mkdir()
        reported, went = swept_until(machine, folder / "a.zarr", monkeypatch)
        if not went:
            break
        left = tmp_path / f"left-{last}"
        machine.restore(folder, left)
        again = swept(left / "a.zarr")[1]
        done = round(max(reported, default=0.0) * 7)
        assert len(again) <= 7 - done + (not done)  # one is computed twice, to know what a row is
        assert bits(left / "a.zarr") == known, last
    assert last > 3 * 8  # it did go, at many moments


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk is mounted by root only")
def test_a_full_disk_at_any_moment(tmp_path):
    """Twenty disks with space for random parts of a sweep: what was reported done stays, and the rest follows later."""
    swept(tmp_path / "known.zarr")
    known, rng = bits(tmp_path / "known.zarr"), np.random.default_rng(0)
    ended_early = 0
    for moment in range(20):
        with small_disk(tmp_path / f"{moment}", size=2**19) as folder:
            reported = []
            CALLS.clear()
            ballast = folder / "ballast"
            ballast.write_bytes(bytes(int(2**19 - 4096 * rng.integers(4, 60))))
            with contextlib.suppress(OSError):
                tell = lambda fraction, message, told=reported: told.append(fraction)
                fl.sweep(squares, MODEL, TASK, over=AXES, store=folder / "a.zarr", block_size=3, progress=tell)
            done = round(max(reported, default=0.0) * 7)
            ended_early += done < 7
            ballast.unlink()
            assert len(swept(folder / "a.zarr")[1]) <= 7 - done + (not done)
            assert bits(folder / "a.zarr") == known
    assert ended_early >= 5  # some disks were full in the middle


@contextlib.contextmanager
def small_disk(folder, size):
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)
