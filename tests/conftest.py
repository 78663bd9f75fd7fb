"""Strict tests: double precision, rank promotion raises, warnings fail (pyproject.toml), array types are checked."""

import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import jax
import matplotlib as mpl
import pytest
from hypothesis import settings

import flowlimit as fl

QUICK = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
"""Compiling is most of the time of the tests: programs that are compiled sooner, and run a little slower."""
os.environ["FLOWLIMIT_CACHE"] = "off"  # commands that tests run leave nothing in the user's cache
os.environ.setdefault("XLA_FLAGS", QUICK)  # read when jax first compiles

SLOW_EXAMPLES = ("label_phases", "descent_times", "conform", "fit_tail", "sweep", "derivative", "shade_phases")


def pytest_xdist_auto_num_workers(config):
    """Two processes, one thread each, for whole folders; the process itself for files that are named.

    Most of the time is compilation, which uses one core; NPROC is how XLA is told the number of its threads.
    """
    if any(".py" in argument for argument in config.args):
        return 0
    os.environ.setdefault("NPROC", "1")
    return 2


def pytest_collection_modifyitems(items):
    """Mark as slow what starts clusters and browsers, and the examples of docstrings that solve limits of flows."""
    for item in items:
        started = {"cluster", "browser", "explorer"} & set(item.path.relative_to(item.config.rootpath).parts)
        if started or item.name.rpartition(".")[2] in SLOW_EXAMPLES:
            item.add_marker("slow")


mpl.use("agg")
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_enable_x64", True)  # for what tests compute themselves; test_precision.py does without
# the same examples every time; no deadline, since the first example compiles
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


@pytest.fixture
def task():
    return fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))


@pytest.fixture
def dataset():
    """A small data set in plain NumPy, the same in every test."""
    import numpy as np

    rng = np.random.default_rng(7)
    samples, dim = 40, 60
    X = rng.normal(size=(samples, dim)) / np.sqrt(dim)
    w_star = (rng.random(dim) < 0.2).astype(float)
    return fl.Dataset(X, X @ w_star + 0.1 * rng.normal(size=samples), w_star=w_star, noise_var=0.01)


@pytest.fixture
def traced(monkeypatch):
    """Return a function that does some work and returns what jax traced or compiled meanwhile.

    There is space for programs: a process that ran many tests would drop all of them in the middle, for want of it.
    """
    from jax._src import monitoring  # the only place with a way to unregister

    from flowlimit.numerics import programs

    with monkeypatch.context() as early:
        early.setattr(programs, "PART", 0.6 * programs.PART)
        programs.drop_programs()

    def during(work):
        events = []

        def note(name, seconds, **about):
            if name.endswith(("jaxpr_trace_duration", "backend_compile_duration")):
                events.append((name, about))

        jax.monitoring.register_event_duration_secs_listener(note)
        try:
            work()
        finally:
            monitoring.unregister_event_duration_listener(note)
        return events

    return during


def run_job(script, *, devices, processes=1, timeout=300):
    """What a script prints as json, run by processes of their own that share one job, each with so many devices.

    The script is given its rank, the number of processes, and an address for `jax.distributed`.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    flags = f"--xla_force_host_platform_device_count={devices} {QUICK}"
    start = lambda rank: subprocess.run(
        [sys.executable, "-c", script, str(rank), str(processes), address],
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    with ThreadPoolExecutor(processes) as pool:  # all are read at once: they wait for each other
        done = list(pool.map(start, range(processes)))
    for one in done:
        assert one.returncode == 0, one.stderr[-4000:]
    return [json.loads(one.stdout.splitlines()[-1]) for one in done]


@pytest.fixture(scope="session")
def job():
    return run_job
