"""`flowlimit estimate`: from a table to a stopping time."""

import json

import numpy as np
import pytest
from in_process import flowlimit, refused

SHORT = ("--step-size", ".1", "--num-steps", "20", "--init-scale", ".3")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = 2.0 + rng.normal(size=(60, 40))
    y = X[:, 0] - X[:, 1] + rng.normal(size=60)
    path = tmp_path_factory.mktemp("tables") / "data.csv"
    head = ",".join([*(f"x{i}" for i in range(40)), "y"])
    np.savetxt(path, np.c_[X, y], delimiter=",", header=head, comments="")
    np.savez(path.with_suffix(".npz"), X=X, y=y)
    return path


def test_json_has_curves_bars_and_the_stopping_time(table):
    done = flowlimit("estimate", table, "--target", "y", *SHORT, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["result"] == "successful"
    assert len(found["time"]) == len(found["test_error"]) == len(found["test_error_stderr"]) == 21
    assert found["stopping_low"] <= found["stopping_time"] <= found["stopping_high"]


def test_text_says_how_data_were_prepared_and_files_agree(table, tmp_path):
    said = flowlimit("estimate", table, *SHORT, "--plot", tmp_path / "a.png", "--out", tmp_path / "a.csv")
    assert said.returncode == 0, said.stderr
    assert "Prepared: 60 samples, dim 40; columns and y centred" in said.stdout
    assert "Stopping(time=" in said.stdout
    assert (tmp_path / "a.png").stat().st_size > 1000
    same = flowlimit("estimate", table.with_suffix(".npz"), *SHORT)
    assert same.stdout.splitlines()[3:10] == said.stdout.splitlines()[3:10]


def test_refusals(table, tmp_path):
    assert "target: given 'z', needs one of the columns" in refused("estimate", table, "--target", "z")
    assert "needs a file that ends in .csv, .npz, .parquet" in refused("estimate", tmp_path / "a.txt")
    assert "there is no such file" in refused("estimate", tmp_path / "a.csv")
    assert "does not read the task" in refused("estimate", table, "--set", "task.noise_var=1")
    assert "whose steps are random" in refused("estimate", table, *SHORT, "--batch-fraction", ".5")
    words = tmp_path / "words.csv"
    words.write_text("a,y\n1,2\nred,3\n")
    assert "line 3, column 'a': given 'red', needs numbers" in refused("estimate", words)


def test_strains_are_said(table, tmp_path):
    short = tmp_path / "short.csv"
    short.write_text("\n".join(table.read_text().splitlines()[:31]))
    done = flowlimit("estimate", short, *SHORT, "--json")
    assert done.returncode == 0, done.stderr
    assert "warning: 30 samples are few" in done.stderr


def test_select_says_which_model_and_when_to_stop(table, tmp_path):
    words = ("select", table, *SHORT[:4], "--over", "model.init_scale=.1,.5")
    done = flowlimit(*words, "--plot", tmp_path / "a.png", "--out", tmp_path / "a.csv", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert np.shape(found["test_error"]) == (2, 21)
    assert found["choice_place"] in (0, 1)
    assert (tmp_path / "a.png").stat().st_size > 1000
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 1 + 2 * 21
    assert "select compares models" in refused("select", table, "--over", "training.step_size=.1,.2")
    assert "which it overrides" in refused(*words, "--init-scale", "1")
