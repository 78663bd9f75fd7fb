"""Files and JSON of results: words are words, and every file has the same numbers."""

import csv
import json

import numpy as np
import pytest
import xarray as xr

import flowlimit as fl
from flowlimit.cli.output import give

TIMES = fl.timescales(fl.DiagonalLinear(0.3), fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1)))
VALUES = {"test_error": np.array([[1.0, 0.5], [2.0, 0.7]]), "overlap": np.array([[0.0, 0.5], [0.0, 0.7]])}
RUNS = fl.Runs(np.array([0.0, 1.0]), VALUES, True)


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_a_closed_form(tmp_path, capsys):
    """Before, the case of a fixed point was 2.0 in JSON and in tables."""
    for ending in (".csv", ".json", ".nc"):
        fl.save(TIMES, tmp_path / f"a{ending}")
    give(TIMES, as_json=True)
    for found in (json.loads((tmp_path / "a.json").read_text()), json.loads(capsys.readouterr().out)):
        assert found["regime"] == "small"
        assert found["search"] == float(TIMES.search)
        assert found["rich"] is None  # JSON has no word for infinity
    (row,) = rows(tmp_path / "a.csv")
    assert (row["regime"], float(row["search"])) == ("small", float(TIMES.search))
    with xr.open_dataset(tmp_path / "a.nc", engine="scipy") as data:
        assert data.attrs["regime"] == "small"
        assert float(data["search"]) == float(TIMES.search)


def test_a_record(tmp_path):
    for ending in (".csv", ".nc"):
        fl.save(RUNS, tmp_path / f"a{ending}")
    first, last = rows(tmp_path / "a.csv")
    assert list(first) == ["time", "test_error", "test_error_stderr", "overlap", "overlap_stderr"]
    assert (float(last["time"]), float(last["overlap"])) == (1.0, RUNS.overlap[1])
    assert float(last["overlap_stderr"]) == RUNS.overlap_stderr[1]
    with xr.open_dataset(tmp_path / "a.nc", engine="scipy") as data:
        assert data["overlap"].to_numpy() == pytest.approx(RUNS.overlap, rel=0, abs=0)
        assert data.attrs["kind"] == "Runs"
