"""The explorer without a browser: inputs, pictures, and a worker that drops what nobody waits for."""

import threading
import time
import tomllib

import numpy as np
import pytest

import flowlimit as fl

pytest.importorskip("panel")

from flowlimit.explorer import pictures
from flowlimit.explorer.answers import Found, law_times, limit_of, runs_of, theory_of, trade_off_of
from flowlimit.explorer.inputs import PRESETS, SLIDERS, Inputs
from flowlimit.explorer.pictures import LOOKS
from flowlimit.explorer.worker import Worker

LOOK = LOOKS["default"]
SHORT = Inputs(horizon=3.0, dim=100)


def test_inputs_are_bounded():
    wild = Inputs(init_scale=1e9, weight_decay=-1.0, horizon=1e9, depth=77, dim=10**6).bounded()
    assert (wild.init_scale, wild.weight_decay, wild.horizon, wild.depth, wild.dim) == (100.0, 0.0, 200.0, 4, 400)
    with pytest.raises(ValueError, match="needs numbers"):
        Inputs(init_scale=float("nan")).bounded()
    assert all(preset.bounded() == preset for preset in PRESETS.values())


def test_a_copied_problem_is_the_same():
    inputs = Inputs(init_scale=0.7, weight_decay=0.2, sparsity=0.3)
    found = tomllib.loads(inputs.to_toml())
    for name, noun in zip(("model", "task", "training"), inputs.nouns, strict=True):
        assert fl.from_dict(found[name]).to_dict() == noun.to_dict()
    names = {}
    exec(inputs.to_python().split("limit =")[0], names)
    assert [names[name].to_dict() for name in ("model", "task", "training")] == [n.to_dict() for n in inputs.nouns]


@pytest.fixture(scope="module")
def found():
    never = lambda: False
    return Found(theory_of(SHORT), limit_of(SHORT, 0.9, never), runs_of(SHORT, never), trade_off_of(SHORT))


def test_pictures_show_what_was_found(found):
    errors = pictures.errors(LOOK, SHORT, found)
    lines = {trace["name"]: trace for trace in errors["data"] if "name" in trace}
    np.testing.assert_array_equal(lines["test error"]["y"], found.limit.test_error)
    assert [note["text"] for note in errors["layout"]["annotations"]] == ["search", "descent"]
    ends = [shape["y0"] for shape in errors["layout"]["shapes"] if shape["type"] == "line"]
    assert ends[1] == pytest.approx(float(found.theory.point.test_error))
    law = pictures.law(LOOK, float(law_times(SHORT)[-1]), found)
    bars, line, density = law["data"]
    width = bars["width"]
    inside = np.abs(found.runs.weights[:, -1] - 0.45) < 0.75  # within the picture
    assert np.sum(bars["y"]) * width == pytest.approx(inside.mean(), abs=0.05)
    assert np.nansum(line["y"]) * width == pytest.approx(1.0, abs=1e-6)
    assert density["name"] == "density at the end"
    point = pictures.trade_off(LOOK, SHORT, found)["data"][1]
    assert point["y"] == [pytest.approx(float(found.theory.point.test_error))]
    decay = pictures.decay(LOOK, found)["data"]
    assert "exp(-2" in decay[1]["name"]
    assert len(pictures.kernels(LOOK, found.limit)["data"]) == 2


def test_pictures_without_answers_say_so():
    nothing = Found()
    for picture in (
        pictures.law(LOOK, 1.0, nothing),
        pictures.kernels(LOOK, None),
        pictures.trade_off(LOOK, SHORT, nothing),
        pictures.decay(LOOK, nothing),
    ):
        assert picture["layout"]["annotations"][0]["text"]
    assert pictures.errors(LOOK, SHORT, nothing)["data"] == []
    assert nothing.words(done=False) == "solving ..."


def test_where_there_is_no_closed_form(found):
    """At depth 3 there is none; at aspect ratio 1 there is no rate."""
    deep = theory_of(Inputs(depth=3))
    assert deep.point is None or deep.rate is None
    assert theory_of(Inputs(aspect_ratio=1.0)).rate is None
    assert pictures.errors(LOOK, Inputs(depth=3), Found(deep, found.limit))["data"]


def test_the_worker_answers_the_newest_request_alone():
    parts, done = [], threading.Event()

    def publish(inputs, name, answer):
        parts.append((inputs, name))
        if name == "done":
            done.set()

    worker = Worker(publish)
    newest = Inputs(init_scale=0.5, horizon=3.0, dim=100)
    for scale in (10.0, 20.0, 30.0):
        worker.ask(Inputs(init_scale=scale, weight_decay=0.1, horizon=200.0))
        time.sleep(0.05)
    began = time.perf_counter()
    worker.ask(newest)
    assert done.wait(300.0)
    while ("theory" not in [name for inputs, name in parts if inputs == newest]) and time.perf_counter() - began < 60.0:
        time.sleep(0.1)
    worker.end()
    mine = [name for inputs, name in parts if inputs == newest]
    assert sorted(mine) == sorted(["limit", "theory", "trade_off", "runs", "limit", "done"])
    assert mine[0] == "limit"
    assert not [name for inputs, name in parts if inputs != newest and name == "done"]
    assert time.perf_counter() - began < 300.0


def test_a_failure_is_told_and_the_worker_goes_on(monkeypatch):
    said = []
    told = threading.Event()

    def publish(inputs, name, answer):
        said.append((name, answer))
        told.set()

    monkeypatch.setattr("flowlimit.explorer.worker.coarse_limit", lambda *given: 1 / 0)
    monkeypatch.setattr("flowlimit.explorer.worker.QUIET", 100.0)  # the other thread stays quiet
    worker = Worker(publish)
    for scale in (0.3, 0.4):
        told.clear()
        worker.ask(Inputs(init_scale=scale))
        assert told.wait(10.0)
    worker.end()
    assert said == [("failed", "ZeroDivisionError: division by zero")] * 2


def test_every_slider_is_a_field():
    assert set(SLIDERS) <= set(Inputs().numbers())
