"""The explorer without a browser: inputs, pictures, and a worker that drops what nobody waits for."""

import sys
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import flowlimit as fl

pytest.importorskip("panel")

from flowlimit.explorer import answers
from flowlimit.explorer.answers import Found, coarse_limit, law_times, theory_of, trade_off_of
from flowlimit.explorer.inputs import PRESETS, SLIDERS, Inputs
from flowlimit.explorer.pictures import LOOKS, Decay, Errors, Kernels, Law, Scene, TradeOff
from flowlimit.explorer.worker import Worker

pytestmark = pytest.mark.slow

LOOK = LOOKS["default"]
SHORT = Inputs(horizon=3.0, dim=100)


def test_inputs_are_bounded():
    wild = Inputs(init_scale=1e9, weight_decay=-1.0, horizon=1e9, depth=77, dim=10**6).bounded()
    assert (wild.init_scale, wild.weight_decay, wild.horizon, wild.depth, wild.dim) == (100.0, 0.0, 200.0, 4, 400)
    with pytest.raises(ValueError, match="needs numbers"):
        Inputs(init_scale=float("nan")).bounded()
    assert all(preset.bounded() == preset for preset in PRESETS.values())


@pytest.mark.parametrize("capacity", [0.0, 1.2])
def test_a_copied_problem_is_the_same(capacity):
    inputs = Inputs(init_scale=0.7, weight_decay=0.2, sparsity=0.3, capacity=capacity)
    found = tomllib.loads(inputs.to_toml())
    for name, noun in zip(("model", "task", "training"), inputs.nouns, strict=True):
        assert fl.from_dict(found[name]).to_dict() == noun.to_dict()
    names = {}
    exec(inputs.to_python().split("limit =")[0], names)
    assert [names[name].to_dict() for name in ("model", "task", "training")] == [n.to_dict() for n in inputs.nouns]


def shown(picture, inputs, found):
    """Return a picture that shows what was found, at the last time."""
    picture.show(Scene(inputs, found, float(law_times(inputs)[-1])))
    return picture


def legend(picture):
    """Return the names of what is drawn."""
    return [item.label.value for item in picture.chart.figure.legend[0].items]


def test_errors_show_the_limit_its_end_and_its_phases(found):
    errors = shown(Errors(LOOK), SHORT, found)
    after = found.limit.times >= errors.times.start
    np.testing.assert_array_equal(errors.lines["test_error"].source.data["y"], found.limit.test_error[after])
    band = errors.bands["test_error"].source.data
    np.testing.assert_allclose(band["y2"] - band["y1"], 4.0 * found.limit.test_error_stderr[after])
    assert [name.text for name in errors.names] == ["search", "descent"]
    assert errors.boxes[0].right == errors.boxes[1].left == float(found.theory.times.search)
    assert errors.ends["test_error"].location == float(found.theory.point.test_error)


def test_the_law_has_mass_one_and_that_of_the_runs(found):
    law = shown(Law(LOOK), SHORT, found)
    line, bars = law.paths.source.data, law.bars.source.data
    width = line["x"][1] - line["x"][0]
    assert np.nansum(line["y"]) * width == pytest.approx(1.0, abs=1e-6)
    inside = np.abs(found.runs.weights[:, -1] - 0.45) < 0.75  # within the picture
    assert np.sum(bars["top"]) * width == pytest.approx(inside.mean(), abs=0.05)
    assert len(law.end.source.data["y"])
    assert legend(law)[-1] == "density at the fixed point"


def test_rates_and_kernels(found):
    trade_off = shown(TradeOff(LOOK), SHORT, found)
    here = trade_off.here.source.data
    np.testing.assert_array_equal(trade_off.over.source.data["scale"], found.trade_off.scales)
    assert ("init scale", "@scale{0.[000]}") in trade_off.chart.figure.hover[0].tooltips
    np.testing.assert_array_equal(here["y"], [float(found.theory.point.test_error)])
    decay = shown(Decay(LOOK), SHORT, found)
    assert len(decay.slope.source.data["y"])
    assert "exp(-2" in legend(decay)[1]
    maps = shown(Kernels(LOOK), SHORT, found).maps
    image, response = (np.asarray(maps[name].source.data["image"][0]) for name in ("C_w", "R_w"))
    assert image[-1, -1] == pytest.approx(found.limit.kernels.C_w[-1, -1])
    np.testing.assert_array_equal(image, image.T)
    assert np.isnan(response[0, 1])


def test_pictures_without_answers_say_so():
    nothing = Found()
    for picture in (Errors(LOOK), Law(LOOK), TradeOff(LOOK), Decay(LOOK)):
        shown(picture, SHORT, nothing)
        assert picture.chart.figure.title.text
        assert all(len(column) == 0 for r in picture.chart.figure.renderers for column in r.data_source.data.values())
    for one in shown(Kernels(LOOK), SHORT, nothing).maps.values():
        assert one.figure.title.text == "the limit is being solved"
        assert len(one.source.data["image"]) == 0
    assert nothing.words(done=False) == "solving ..."


def test_where_there_is_no_closed_form(found):
    """At depth 3 there is none; at aspect ratio 1 there is no rate."""
    deep = theory_of(Inputs(depth=3))
    assert deep.point is None or deep.rate is None
    assert theory_of(Inputs(aspect_ratio=1.0)).rate is None
    assert trade_off_of(Inputs(aspect_ratio=1.0)) is None
    assert len(shown(Errors(LOOK), Inputs(depth=3), Found(deep, found.limit)).lines["test_error"].source.data["y"])


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
    assert mine.index("limit") < mine.index("theory")  # two threads, each in its order
    assert max(map(mine.index, ("trade_off", "runs"))) < mine.index("done")
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


def test_threads_share_what_is_kept(found, monkeypatch):
    """With room for one limit each thread drops what the others are about to return."""
    monkeypatch.setattr(answers, "_KEPT", {})
    monkeypatch.setattr(answers, "MOST_KEPT", 1)
    monkeypatch.setattr(answers, "limit_of", lambda *given, **more: found.limit)
    often = [Inputs(dim=dim) for dim in (100, 200, 400)] * 3000
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(3) as pool:
            assert all(pool.map(lambda inputs: coarse_limit(inputs, lambda: False) is found.limit, often))
    finally:
        sys.setswitchinterval(interval)


def test_what_menus_show_is_kept(found, monkeypatch):
    """Other limits come and go; the first page's and the presets' stay, so that a new page has its pictures at once."""
    monkeypatch.setattr(answers, "_KEPT", {})
    monkeypatch.setattr(answers, "MOST_KEPT", 2)
    monkeypatch.setattr(answers, "limit_of", lambda *args, **options: found.limit)
    for inputs in (Inputs(), *PRESETS.values(), *(Inputs(init_scale=scale) for scale in (0.2, 0.4, 0.5, 0.6))):
        coarse_limit(inputs, lambda: False)
    assert set(answers._KEPT) == {*answers.ASKED_AGAIN, Inputs(init_scale=0.5), Inputs(init_scale=0.6)}


def test_the_trade_off_of_a_task_is_computed_once(monkeypatch):
    """It is the same wherever the init scale, the weight decay and the horizon are; another task's is another."""
    monkeypatch.setattr(answers, "_TRADE_OFFS", {})
    asked = []
    monkeypatch.setattr(answers, "_trade_off", lambda inputs: asked.append(inputs))
    for inputs in (SHORT, Inputs(init_scale=0.7, horizon=9.0, weight_decay=0.1), Inputs(noise_var=0.2)):
        trade_off_of(inputs)
    assert asked == [SHORT, Inputs(noise_var=0.2)]
    assert answers.has_trade_off(SHORT)
    assert not answers.has_trade_off(Inputs(noise_var=0.3))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("known", [False, True])
def test_what_is_there_soon_comes_first(monkeypatch, compiled, known):
    """What compiles cannot be stopped when a slider is moved; errors are looked at first."""
    monkeypatch.setattr("flowlimit.explorer.worker.has_runs_compiled", lambda inputs: compiled)
    monkeypatch.setattr("flowlimit.explorer.worker.has_trade_off", lambda inputs: known)
    names = [name for name, _ in Worker(lambda *_: None)._parts("slow", SHORT, lambda: False)]
    both = ["trade_off", "limit"] if known else ["limit", "trade_off"]
    assert names == [*(["runs", *both] if compiled else [*both, "runs"]), "done"]


def test_every_slider_is_a_field():
    assert set(SLIDERS) <= set(Inputs().numbers())


def test_what_a_page_draws_is_compiled_before(traced):
    """Pages draw in the server's loop: what compiles there keeps every page waiting."""
    theory = theory_of(Inputs())
    at = np.linspace(-0.3, 1.2, answers.LAW_POINTS)
    assert not traced(lambda: np.asarray(theory.point.density(at)))
