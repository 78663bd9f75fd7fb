"""The shipped templates on a real Slurm of one node: job arrays, Dask workers as jobs, and processes that talk."""

import os
import re
import shutil
import sys

import cheap
import numpy as np
import pytest
from one_node import free_ports, one_node

import flowlimit as fl
from flowlimit.cli.axes import parse_axis
from flowlimit.sweeps.templates import read

OVER = ["--over", "model.init_scale=log:0.001:1:40", "--over", "task.noise_var=lin:0:0.5:40"]
AXES = {"model.init_scale": np.geomspace(1e-3, 1.0, 40), "task.noise_var": np.linspace(0.0, 0.5, 40)}


@pytest.fixture(scope="module")
def slurm(tmp_path_factory, commands):
    if shutil.which("slurmctld", path=commands["PATH"]) is None:
        stop = pytest.fail if os.environ.get("CI") else pytest.skip
        stop("slurmctld is not installed; on Debian: apt-get install slurmctld slurmd slurm-client")
    # Jobs get this environment too. Slurm's own variables would be those of a job that runs the tests.
    environment = {name: value for name, value in commands.items() if not name.startswith(("SLURM_", "SBATCH_"))}
    with one_node(tmp_path_factory.mktemp("slurm"), environment) as node:
        yield node


@pytest.fixture
def template(slurm):
    """Write a template as it is shipped; return its name."""

    def write(name):
        (slurm.folder / name).write_text(read(name))
        return name

    return write


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    path = tmp_path_factory.mktemp("undisturbed") / "a.zarr"
    axes = dict(map(parse_axis, OVER[1::2]))
    fl.sweep(fl.timescales, cheap.MODEL, cheap.TASK, over=axes, store=path)
    return cheap.chunks(path)


def test_a_job_array_survives_a_cancelled_task(slurm, template, tmp_path, undisturbed):
    store = str(tmp_path / "a.zarr")
    words = [template("slurm_array.sh"), "timescales", *OVER]
    first = slurm.submit("--array=0-1", *words, STORE=store)
    slurm.until(lambda: slurm.states(f"{first}_1"), lambda states: states == ["RUNNING"])
    slurm.call("scancel", f"{first}_1")
    assert sorted(slurm.wait(first)) == ["CANCELLED", "COMPLETED"]
    assert fl.open_sweep(store).missing == 800
    # any other range of tasks does the rest
    second = slurm.submit("--array=3-5:2", *words, STORE=store)
    assert slurm.wait(second) == ["COMPLETED", "COMPLETED"], slurm.logs()
    assert fl.open_sweep(store).missing == 0
    assert cheap.chunks(store) == undisturbed


def test_dask_workers_are_jobs(slurm, template, tmp_path):
    settings = {
        "DASK_JOBQUEUE__SLURM__INTERFACE": "lo",
        "DASK_JOBQUEUE__SLURM__SCHEDULER_OPTIONS": "{'dashboard_address': '127.0.0.1:0'}",
    }
    said = slurm.call(sys.executable, template("slurm_dask.py"), str(tmp_path / "a.zarr"), "--jobs", "2", **settings)
    assert "1600 successful" in said
    fl.sweep(fl.timescales, cheap.MODEL, cheap.TASK, over=AXES, store=tmp_path / "here.zarr")
    assert cheap.chunks(tmp_path / "a.zarr") == cheap.chunks(tmp_path / "here.zarr")
    assert "dask-worker" in slurm.call("squeue", "--noheader", "--states=all", "--format=%j")


def test_processes_solve_one_problem_together(slurm, template, tmp_path):
    address = f"127.0.0.1:{free_ports(1)[0]}"
    variables = {"JAX_COORDINATOR_ADDRESS": address, "JAX_COORDINATOR_BIND_ADDRESS": address}
    variables["XLA_FLAGS"] = os.environ["XLA_FLAGS"]  # those of all tests: compiling is most of the time
    template("slurm_distributed.py")
    words = [template("slurm_distributed.sh"), str(tmp_path / "a.zarr"), "--num-steps", "10", "--rtol", "0.05"]
    job = slurm.submit(*words, **variables)
    assert slurm.wait(job) == ["COMPLETED"], slurm.logs()
    said = (slurm.folder / f"flowlimit-{job}.log").read_text()
    assert sorted(re.findall(r"process (\d) of 2 has 1 of 2 devices", said)) == ["0", "1"]
    one = fl.solve_dmft(cheap.MODEL, cheap.TASK, fl.GradientDescent(0.1, num_steps=10), rtol=0.05)
    both = fl.load(tmp_path / "a.zarr")
    for name in ("train_error", "test_error"):
        assert np.allclose(both[name].value, one[name].value, rtol=1e-9, atol=0.0)
