"""How commands end: 3 is an answer less accurate than asked for, 4 is none, and both are said."""

import json
import socket

import numpy as np
import pytest
from in_process import flowlimit, refused

import flowlimit as fl
from flowlimit.cli import app
from flowlimit.results import Code, Limit, Outcome

SHORT = ("--step-size", "0.5", "--num-steps", "3")


def limit_with(count, code):
    """Return a limit of so many times that ended with a code."""
    one = {name: np.full((min(count, 1) * 2, count), 0.5) for name in ("train_error", "test_error")}
    parts = {name: np.full(count, 0.1) for name in one}
    return Limit(np.arange(float(count)), one, True, parts, parts, parts, Outcome(code, "the reason"))


@pytest.fixture
def ends(monkeypatch):
    """Replace the solver by one that ends at once."""

    def set_limit(count, code):
        limit = limit_with(count, code)
        monkeypatch.setattr(fl, "solve_dmft", lambda *nouns, **options: limit)
        monkeypatch.setattr("flowlimit.verbs.check.solve_dmft", lambda *nouns, **options: limit)

    return set_limit


@pytest.mark.parametrize("code", [Code.TIMEOUT, Code.STOPPED, Code.DIVERGED, Code.MEMORY, Code.SUCCESSFUL])
def test_no_answer(ends, code, tmp_path):
    ends(0, code)
    done = flowlimit("solve-dmft", *SHORT, "--out", tmp_path / "a.csv", "--plot", tmp_path / "a.png")
    assert done.returncode == (130 if code is Code.STOPPED else 4)
    assert done.stdout == ""
    assert f"no answer: {code}: the reason" in done.stderr
    for name in ("a.csv", "a.png"):
        assert f"{name} was not written: there is no answer" in done.stderr
        assert not (tmp_path / name).exists()
    machine = flowlimit("solve-dmft", *SHORT, "--json")
    assert (machine.returncode, json.loads(machine.stdout)["result"]) == (done.returncode, str(code))


def test_no_answer_to_check(ends, tmp_path):
    ends(0, Code.TIMEOUT)
    done = flowlimit("check", *SHORT, "--plot", tmp_path / "a.png")
    assert done.returncode == 4
    assert "no verdict: timeout: the reason" in done.stdout
    assert "no answer: timeout: the reason" in done.stderr
    assert not (tmp_path / "a.png").exists()


def test_an_answer_less_accurate_than_asked_for(ends, tmp_path):
    ends(4, Code.TIMEOUT)
    done = flowlimit("solve-dmft", *SHORT, "--out", tmp_path / "a.csv")
    assert done.returncode == 3
    assert "timeout: the reason" in done.stderr
    assert "no answer" not in done.stderr
    assert (tmp_path / "a.csv").exists()


def test_a_closed_form_that_is_no_number(tmp_path):
    """gamma underflows; before it was printed as null."""
    out = tmp_path / "a.json"
    done = flowlimit("convergence-rate", "--init-scale", "1e-74", "--aspect-ratio", "2", "--json", "--out", out)
    assert done.returncode == 4
    assert "no answer: the equation behind gamma has no root" in done.stderr
    assert done.stdout == ""
    assert not out.exists()


def test_a_target_without_coordinates_has_no_descent():
    """Before, the descent time of none was given as 7e38."""
    done = flowlimit("timescales", "--probability", "0")
    assert (done.returncode, done.stdout) == (4, "")
    assert "no coordinate of the target differs from 0" in done.stderr


def test_infinity_where_it_is_an_answer():
    assert flowlimit("timescales", "--init-scale", "10").returncode == 0
    assert flowlimit("fixed-point", "--aspect-ratio", "1").returncode == 0


@pytest.mark.parametrize("scale", ["1e-320", "1e-100", "1e100"])
def test_init_scales_beyond_double_precision(scale, tmp_path):
    assert "init_scale: given" in refused("convergence-rate", "--init-scale", scale)
    assert "init_scale" in refused(
        "sweep", "timescales", "--over", f"model.init_scale=1,{scale}", "--store", tmp_path / "a"
    )


@pytest.mark.parametrize("limit", ["nan", "inf", "-1", "0"])
def test_time_limits(limit, tmp_path):
    assert f"--time-limit: given {float(limit)}" in refused("solve-dmft", "--time-limit", limit)
    assert "--time-limit: given" in refused("check", "--time-limit", limit)
    (tmp_path / "a.toml").write_text(f"[solve_dmft]\ntime_limit = {limit}\n")
    assert "a.toml, line 2: solve_dmft.time_limit: given" in refused("solve-dmft", tmp_path / "a.toml")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (OverflowError("int too large"), 2, "error: OverflowError: int too large; flowlimit --traceback"),
        (KeyError("name"), 2, "error: KeyError: 'name'"),
        (RecursionError("too deep"), 2, "error: RecursionError: too deep"),
        (PermissionError(13, "Permission denied", "a.csv"), 2, "error: [Errno 13] Permission denied: 'a.csv'"),
        (ImportError("no module"), 2, "error: ImportError: no module"),
        (ValueError("several\nlines"), 2, "error: several lines"),
        (fl.FlowlimitError("diverged"), 4, "no answer: diverged"),
        (MemoryError(), 4, "no answer: there was not enough memory"),
        (RuntimeError("RESOURCE_EXHAUSTED: Out of memory"), 4, "no answer: there was not enough memory"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_errors_are_one_line(error, code, message, monkeypatch):
    def broken():
        raise error

    monkeypatch.setattr(app, "app", broken)
    done = flowlimit()
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1


def test_a_traceback_for_those_who_want_it(monkeypatch):
    words = ("convergence-rate", "nowhere.toml")
    with pytest.raises(FileNotFoundError):
        flowlimit("--traceback", *words)
    monkeypatch.setenv("FLOWLIMIT_TRACEBACK", "1")
    with pytest.raises(FileNotFoundError):
        flowlimit(*words)


def test_outputs_are_checked_before_the_work(tmp_path):
    """A limit would take longer than the whole test, and would be printed."""
    (tmp_path / "a.png").write_text("mine")
    for flag, name, message in [
        ("--out", "none/a.csv", "there is no folder"),
        ("--out", "a.xls", "needs a name that ends in .zarr, .nc, .csv, .json"),
        ("--plot", "none/a.png", "there is no folder"),
        ("--plot", "a.gif", "needs a name that ends in .png, .pdf, .svg"),
        ("--plot", "a.png", "exists; give another path"),
    ]:
        for verb in ("solve-dmft", "simulate"):
            assert message in refused(verb, flag, tmp_path / name)
    assert "exists" in refused("check", "--plot", tmp_path / "a.png")
    assert "needs a name that ends in .nc, .csv, .json" in refused("convergence-rate", "--out", tmp_path / "a.zarr")
    assert "there is no folder" in refused("init", tmp_path / "none" / "a.toml")
    assert (tmp_path / "a.png").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--workers", "0"), "Invalid value for '--workers'"),
        (("--workers", "-2"), "Invalid value for '--workers'"),
        (("--block-size", "0"), "Invalid value for '--block-size'"),
        (("--shard", "2/2"), "shard: given '2/2'"),
        (("--shard", "-1/2"), "shard: given '-1/2'"),
        (("--shard", "half"), "shard: given 'half'"),
    ],
)
def test_nonsense_given_to_a_sweep(words, message, tmp_path):
    line = refused(
        "sweep", "convergence-rate", "--over", "model.init_scale=1,2", "--store", tmp_path / "a.zarr", *words
    )
    assert message in line
    assert not (tmp_path / "a.zarr").exists()


def test_paths_that_are_no_sweep(tmp_path):
    limit = tmp_path / "limit.zarr"
    fl.save(limit_with(4, Code.SUCCESSFUL), limit)
    (tmp_path / "notes.txt").write_text("mine")
    axis = ("--over", "model.init_scale=1,2")
    for path, what in [(limit, "a stored Limit"), (tmp_path, "a file or"), (tmp_path / "notes.txt", "a file or")]:
        for words in (("table", path), ("sweep", "timescales", *axis, "--store", path)):
            assert f"{path} is {what}" in refused(*words)
    assert "does not exist" in refused("table", tmp_path / "none.zarr")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--port", "99999999"), "Invalid value for '--port'"),
        (("--port", "-1"), "Invalid value for '--port'"),
        (("--address", "300.1.1.1"), "--address, --port: given 300.1.1.1 and 0, which cannot be listened at"),
        (("--address", "a..b"), "--address, --port: given a..b and 0, which cannot be listened at"),
        (("--address", "a" * 70), "which cannot be listened at"),
        (("--address", ""), "--address, --port: given '' and 0"),
        (("--allow-host", "http://ours.example"), "--allow-host: given 'http://ours.example', needs a name"),
        (("--allow-host", "ours.example:80"), "--allow-host: given 'ours.example:80', needs a name"),
        (("--allow-host", "*"), "--allow-host: given '*', needs a name"),
    ],
)
def test_ports_and_addresses(words, message):
    assert message in refused("explore", "--no-show", *words)


def test_a_port_that_is_taken():
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        own.listen()
        assert "a free port, e.g. --address 127.0.0.1 --port 0" in refused("explore", "--port", own.getsockname()[1])
