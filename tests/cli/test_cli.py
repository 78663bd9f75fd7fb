"""The command as a person uses it."""

import csv
import json
import resource
import subprocess
import sys

import pytest
from in_process import flowlimit

COMMAND = [sys.executable, "-c", "from flowlimit.cli.process import run; run()"]


def in_a_process(*words):
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False)


def test_help_is_quick_and_loads_no_jax():
    """Under 0.4 s of work: the best of five, since the machine may be busy."""
    work = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    seconds = []
    for _ in range(5):
        began = work()
        done = in_a_process("--help")
        seconds.append(work() - began)
    assert done.returncode == 0
    assert "simulate" in done.stdout
    assert "doctor" in done.stdout
    assert min(seconds) < 0.4
    code = "import sys, flowlimit.cli.app; assert not {'jax', 'numpy', 'rich'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_version():
    import flowlimit

    assert in_a_process("--version").stdout.strip() == flowlimit.__version__


def test_doctor():
    done = in_a_process("doctor")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "other solvers yes" in text or "pip install 'flowlimit[verify]'" in text
    for word in ("flowlimit", "jax", "devices", "precision", "double", "sweeps on a cluster", "ready"):
        assert word in done.stdout


@pytest.mark.slow
def test_simulate(tmp_path):
    words = ["simulate", "--init-scale", "1", "--dim", "40", "--trials", "2", "--horizon", "5"]
    done = flowlimit(*words, "--plot", str(tmp_path / "a.png"), "--out", str(tmp_path / "a.zarr"))
    assert done.returncode == 0, done.stderr
    assert "test_error" in done.stdout
    assert (tmp_path / "a.png").stat().st_size > 10_000
    import flowlimit as fl

    assert fl.load(tmp_path / "a.zarr").provenance["problem"]["model"]["init_scale"] == 1.0
    again = flowlimit(*words, "--out", str(tmp_path / "a.zarr"))
    assert again.returncode == 2
    assert "exists; give another path" in again.stderr


def test_a_new_user(tmp_path):
    """A file is written, solved, drawn and checked; flags come before it, and JSON is for machines."""
    file = str(tmp_path / "problem.toml")
    assert flowlimit("init", file).returncode == 0
    assert "exists; give another name" in flowlimit("init", file).stderr
    flags = [file, "--step-size", "0.5", "--num-steps", "6", "--rtol", "0.05"]
    done = flowlimit(
        "solve-dmft", *flags, "--plot", str(tmp_path / "a.png"), "--out", str(tmp_path / "a.csv"), "--json"
    )
    assert done.returncode == 0, done.stderr
    numbers = json.loads(done.stdout)
    assert numbers["result"] == "successful"
    assert numbers["time"][-1] == 3.0
    assert (tmp_path / "a.png").stat().st_size > 10_000
    with (tmp_path / "a.csv").open() as table:
        rows = list(csv.DictReader(table))
    assert float(rows[-1]["test_error"]) == numbers["test_error"][-1]
    checked = flowlimit("check", *flags, "--dims", "50", "--dims", "200", "--trials", "10")
    assert checked.returncode == 0, checked.stderr
    assert "agree: all within 4 standard errors" in checked.stdout


def test_long_time():
    point = flowlimit("fixed-point", "--init-scale", "0.3")
    assert "test error 0.0541949" in point.stdout
    rate = flowlimit("convergence-rate", "--aspect-ratio", "2")
    assert "gamma 0.010517708" in rate.stdout
    times = flowlimit("timescales", "--init-scale", "1e-3")
    assert "search 1.76777, descent 13.8153" in times.stdout
    refused = flowlimit("convergence-rate", "--aspect-ratio", "1")
    assert refused.returncode == 2
    assert "aspect_ratio: given 1" in refused.stderr


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (["--init-scale", "-1"], "init_scale: given -1, needs a number above 0", 2),
        (["--step-size", "0.1"], "both --step-size and --num-steps", 2),
        (["--set", "model.depth=a"], "e.g. model.init_scale=0.1,1,10", 2),
        (["--out", "a.txt"], "needs a name that ends in .zarr, .nc, .csv, .json", 2),
        (["--step-size", "0.1", "--num-steps", "99", "--init-scale", "3", "--dim", "50"], "diverged", 4),
    ],
)
def test_errors_are_one_line(words, message, code):
    done = flowlimit("simulate", *words)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "flags",
    [
        ("--momentum", "0.9", "--nesterov"),
        ("--batch-fraction", "0.5", "--label-noise", "0.1"),
        ("--temperature", "0.001"),
    ],
    ids=["momentum", "batches", "Langevin"],
)
def test_trainings(flags):
    words = ["simulate", "--dim", "30", "--trials", "2", "--step-size", "0.05", "--num-steps", "5"]
    done = flowlimit(*words, *flags)
    assert done.returncode == 0, done.stderr
    refused = flowlimit("simulate", *flags)
    assert refused.returncode == 2
    assert "--num-steps" in refused.stderr


def test_sweep_and_table(tmp_path):
    store = str(tmp_path / "atlas.zarr")
    words = ["sweep", "timescales", "--over", "model.init_scale=log:0.01:0.1:3", "--store", store]
    done = flowlimit(*words, "--shard", "0/1")
    assert done.returncode == 0, done.stderr
    assert "3 successful" in done.stdout
    assert "3 of 3 points" in done.stderr  # no terminal here, so a log
    import flowlimit as fl

    known = fl.timescales(fl.DiagonalLinear(0.1), fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1)))
    assert float(fl.open_sweep(store)["descent"][-1]) == pytest.approx(float(known.descent))
    again = flowlimit(*words, "--weight-decay", "0.1")
    assert again.returncode == 2
    assert "holds another sweep: model.weight_decay" in again.stderr
    shown = flowlimit("table", store, "--failures")
    assert "timescales over 3 model.init_scale" in shown.stdout
    wrong = flowlimit("sweep", "timescales", "--over", "model.init_scale=log:1:2", "--store", store)
    assert wrong.returncode == 2
    assert "e.g. model.init_scale=0.1,1,10" in wrong.stderr
