"""Results as labelled data: curves as attributes, data sets, trees and tables, equality, and what notebooks show."""

import copy
import dataclasses
import json
import pickle
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import xarray as xr

import flowlimit as fl
from flowlimit.results import Record
from flowlimit.results.html import sparkline
from flowlimit.results.same import same

pytestmark = pytest.mark.slow

TASK = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
PROBLEM = fl.Linear(), TASK, fl.GradientDescent(0.25, num_steps=8)
OVERLAP = {"overlap": lambda w, w_star: w * w_star}
CURVES = ["train_error", "test_error", "loss", "norm_1", "norm_2", "overlap"]


def make_limit():
    return fl.solve_dmft(*PROBLEM, rtol=0.5, observables=OVERLAP)


def make_runs():
    return fl.simulate(*PROBLEM, dim=40, trials=3, weights_at=[0.0, 2.0], observables=OVERLAP)


@pytest.fixture(scope="module")
def limit():
    return make_limit()


@pytest.fixture(scope="module")
def runs():
    return make_runs()


@pytest.fixture(params=["limit", "runs"])
def record(request):
    return request.getfixturevalue(request.param)


def test_a_record_carries_its_nouns(record):
    assert (record.model, record.task, record.training) == PROBLEM


def test_runs_on_data_carry_the_data(dataset):
    runs = fl.simulate(fl.DiagonalLinear(0.3), dataset, fl.GradientDescent(0.1, num_steps=2))
    assert runs.task is dataset


def test_every_curve_is_an_attribute_with_its_standard_error(record):
    """Before, loss, norms and observables raised."""
    assert list(record.curves) == CURVES
    for part in (record, record.at(record.times)):
        for name in CURVES:
            assert getattr(part, name) is part[name].value
            assert getattr(part, f"{name}_stderr") is part[name].stderr
            assert {name, f"{name}_stderr"} <= set(dir(part))


def test_what_is_no_curve_says_what_there_is(record):
    with pytest.raises(
        AttributeError, match=r"no curve 'tset_error'; there are train_error.*did you mean 'test_error'"
    ):
        _ = record.tset_error
    assert not hasattr(record, "nothing")
    assert getattr(record, "nothing_stderr", None) is None
    with pytest.raises(AttributeError):
        _ = object.__new__(type(record)).loss  # without its fields


@pytest.mark.parametrize("name", ["model", "times", "values", "to_xarray", "kernels", "weights", "a/b", "x_stderr", ""])
def test_names_that_could_not_be_attributes_are_refused(name):
    with pytest.raises(ValueError, match="observables: given"):
        fl.simulate(*PROBLEM, dim=10, trials=2, observables={name: OVERLAP["overlap"]})


def test_records_are_copied_and_pickled(record):
    again = pickle.loads(pickle.dumps(record))
    assert again == record
    assert again.model == record.model
    assert copy.deepcopy(record) == record


def test_data_set_of_curves(record):
    data = record.to_xarray()
    assert list(data.data_vars) == [f"{name}{ending}" for name in CURVES for ending in ("", "_stderr")]
    for name in CURVES:
        assert data[name].dims == data[f"{name}_stderr"].dims == ("time",)
        assert np.array_equal(data[name], record[name].value)
        assert np.array_equal(data[f"{name}_stderr"], record[name].stderr)
    assert np.array_equal(data["time"], record.times)
    assert data["norm_1"].attrs == {"long_name": "|w|_1 / d", "units": "1"}
    assert data["norm_1_stderr"].attrs["long_name"] == "standard error of |w|_1 / d"
    assert data.attrs["kind"] == type(record).__name__
    origin = json.loads(data.attrs["provenance"])
    assert (origin["version"], origin["key"]) == (fl.__version__, 0)
    assert fl.from_dict(origin["problem"]["task"]) == TASK
    assert json.loads(data.attrs["stats"])["memory_bytes"] == record.stats.memory_bytes


def test_data_set_goes_through_netcdf(record, tmp_path):
    data = record.to_xarray()
    data.to_netcdf(tmp_path / "a.nc", engine="scipy")
    with xr.open_dataset(tmp_path / "a.nc", engine="scipy") as back:
        xr.testing.assert_identical(back.load().drop_attrs(deep=False), data.drop_attrs(deep=False))
        assert back.attrs["provenance"] == data.attrs["provenance"]


def test_tree_of_a_limit(limit):
    tree = limit.to_datatree()
    assert set(tree.children) == {"curves", "replicas", "errors", "kernels", "operators", "paths"}
    assert dict(tree["replicas/loss"].sizes) == {"replica": limit.replicas, "time": 9}
    assert np.array_equal(tree["replicas/loss"], limit.values["loss"])
    assert set(tree["errors"].children) == {"statistical", "bias", "time_error"}
    parts = [tree[f"errors/{part}/overlap"].to_numpy() for part in tree["errors"].children]
    assert np.sqrt(sum(part**2 for part in parts)) == pytest.approx(limit.overlap_stderr)
    assert tree["kernels/C_w"].dims == tree["kernels/C_w_stderr"].dims == tree["operators/R_f"].dims == ("t", "s")
    assert np.array_equal(tree["kernels/R_w"].sel(t=2.0, s=0.25), limit.kernels.R_w[8, 1])
    assert tree["paths/w"].dims == ("time", "path")
    assert float(tree["paths/probability"].sum()) == pytest.approx(1.0)


def test_tree_of_runs(runs):
    tree = runs.to_datatree()
    assert set(tree.children) == {"curves", "trials", "weights"}
    assert dict(tree["trials/test_error"].sizes) == {"trial": 3, "time": 9}
    assert dict(tree["weights/weights"].sizes) == {"trial": 3, "time": 2, "coordinate": 40}
    assert dict(tree["weights/w_star"].sizes) == {"trial": 3, "coordinate": 40}
    assert tree["trials/test_error"].mean("trial").to_numpy() == pytest.approx(runs.test_error)


def test_table_is_tidy(record):
    table = record.to_dataframe()
    assert list(table.columns) == ["time", "curve", "value", "stderr"]
    assert len(table) == len(CURVES) * len(record.times)
    own = table[table.curve == "norm_2"]
    assert np.array_equal(own.value, record.norm_2)
    assert np.array_equal(own.stderr, record.norm_2_stderr)
    assert np.array_equal(own.time, record.times)


@pytest.mark.parametrize("make", [make_limit, make_runs])
def test_equality(make):
    """Two computations of one problem are equal, though their seconds and dates are not; NaN is equal to NaN."""
    one, two = make(), make()
    assert one.stats.seconds != two.stats.seconds
    assert one == two
    values = {name: value.copy() for name, value in one.values.items()}
    values["loss"][0, 3] = np.nan
    broken = dataclasses.replace(one, values=values)
    assert (one == broken) is False
    assert broken == dataclasses.replace(one, values=copy.deepcopy(values))
    assert one != dataclasses.replace(one, times=2.0 * one.times)
    assert one != dataclasses.replace(one, provenance=one.provenance | {"problem": {}})
    assert one != 3
    assert one["loss"] == two["loss"]
    assert one.at(1.0) == two.at(1.0)
    assert fl.compare(one, one) == fl.compare(two, one)


def test_equality_never_raises():
    class Shy:
        def __eq__(self, other):
            raise RuntimeError("not compared")

        __hash__ = None

    assert not same(Shy(), Shy())
    assert not same(np.zeros(2), np.zeros(3))
    assert not same([1.0], [1.0, 2.0])
    assert same({"a": (np.nan, "x")}, {"a": (np.nan, "x")})
    assert not same({"a": 1}, {"b": 1})
    assert same(np.array(["a"]), np.array(["a"]))


def test_kernels_operators_and_paths(limit):
    assert repr(limit.kernels) == "Kernels C_w, C_f, R_w, R_f at pairs of 9 times, 0 to 2"
    assert repr(limit.operators) == "Operators S, R_w, R_f over 9 times, 0 to 2"
    assert repr(limit.paths).startswith("PathSample: w, g and z of ")
    for part in (limit.kernels, limit.operators, limit.paths):
        assert part == copy.deepcopy(part)
        assert part != dataclasses.replace(part, times=2.0 * part.times)


def test_what_a_notebook_shows(record):
    page = ET.fromstring(record._repr_html_())
    lines = page.findall(".//polyline")
    assert len(lines) == len(CURVES)
    assert all(len(line.attrib["points"].split()) == len(record.times) for line in lines)
    rows = page.findall(".//tr")
    assert [cell.text for cell in rows[0]] == ["time", *CURVES]
    assert [cell.text for cell in rows[-1]][:2] == ["2", record.table(1 + len(record.times)).split("\n")[-1].split()[1]]
    assert "GradientDescent(step_size=0.25, num_steps=8)" in "".join(page.itertext())


def test_text_of_others_is_escaped():
    bad = "<script>alert(1)</script>"
    runs = fl.Runs(
        np.arange(3.0),
        {bad: np.ones((2, 3))},
        True,
        fl.Outcome(fl.Code.STOPPED, bad),
        provenance={"summary": {"model": bad}},
    )
    assert "<script" not in runs._repr_html_()
    assert "&lt;script&gt;" in runs._repr_html_()
    ET.fromstring(runs._repr_html_())


@pytest.mark.parametrize("values", [[1.0, np.nan, np.inf, 2.0], [np.nan] * 4, [0.0] * 4, [-1e308, 1e308, 1.0, 0.0]])
def test_lines_of_any_values(values):
    line = ET.fromstring(sparkline(np.arange(4.0), np.array(values)))[1].attrib["points"]
    assert "nan" not in line
    assert "inf" not in line


def test_a_record_without_times_is_shown():
    none = fl.Limit(np.zeros(0), {"train_error": np.zeros((0, 0))}, True, *[{"train_error": np.zeros(0)}] * 3)
    assert isinstance(none, Record)
    ET.fromstring(none._repr_html_())
    assert len(none.to_dataframe()) == 0
    assert none == copy.deepcopy(none)
    assert none.stats == fl.SolveStats()
