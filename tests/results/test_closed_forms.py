"""Closed forms have the faces of results: plain numbers and words, labelled data, a table in a notebook, equality."""

import json
import xml.etree.ElementTree as ET

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl

pytestmark = pytest.mark.slow

TASK = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
PLAIN = fl.DiagonalLinear(0.3)
DATA = fl.Dataset(np.eye(3, 4) + 0.1, [1.0, 0.0, 2.0])
FLAT = {name: np.linspace(1.0, 0.5, 20)[None] for name in ("train_error", "test_error")}
LARGE = fl.Runs(np.linspace(1e-3, 60.0, 20), FLAT, False, model=fl.DiagonalLinear(100.0, weight_decay=0.5), task=TASK)
LATE = fl.Runs(np.linspace(1.0, 60.0, 20), FLAT, False, model=PLAIN, task=TASK)
FORMS = {
    "FixedPoint": lambda scale: fl.fixed_point(fl.DiagonalLinear(scale, weight_decay=0.1), TASK),
    "Rate": lambda scale: fl.convergence_rate(fl.DiagonalLinear(scale), TASK),
    "Timescales": lambda scale: fl.timescales(fl.DiagonalLinear(scale), TASK),
    "StateEvolution": lambda scale: fl.state_evolution(fl.DiagonalLinear(scale), TASK, num_steps=5),
    "LassoPath": lambda scale: fl.small_init_path(fl.DiagonalLinear(scale), TASK, [10.0, 100.0]),
    "Minimizer": lambda scale: fl.minimizer(fl.DiagonalLinear(scale), DATA),
    "MessagePassing": lambda scale: fl.amp(fl.DiagonalLinear(scale), DATA, num_steps=5, throw=False),
    "Tail": lambda scale: fl.fit_tail(LATE, start=scale + 5.0, stop=40.0),
    "Phases": lambda scale: fl.label_phases(LARGE if scale == 0.3 else LATE),
}


@pytest.fixture(params=list(FORMS), scope="module")
def pair(request):
    """A closed form, the same one again, and another of its kind."""
    make = FORMS[request.param]
    return make(0.3), make(0.3), make(0.2)


def test_equality(pair):
    one, again, other = pair
    assert (one == again) is True
    assert (one == other) is False
    assert one != 3


def test_dictionary_is_plain(pair):
    one, again, _ = pair
    assert json.loads(json.dumps(one.to_dict())).keys() == one.to_dict().keys()
    assert json.dumps(one.to_dict()) == json.dumps(again.to_dict())


def test_short_text_and_table(pair):
    one = pair[0]
    assert len(repr(one)) < 400
    assert "array(" not in repr(one)
    assert "<pre>" not in one._repr_html_()
    page = ET.fromstring(one._repr_html_())
    assert page.find("b").text == type(one).__name__


def test_labelled_data(pair):
    one = pair[0]
    data = one.to_xarray()
    assert data.attrs["closed_form"] == type(one).__name__
    for name in data.data_vars:
        assert "long_name" in data[name].attrs


def test_words_are_words():
    """Before, the case was a number in the command's JSON."""
    assert FORMS["FixedPoint"](0.3).to_dict()["case"] == "lasso"
    rate = FORMS["Rate"](0.3)
    assert (rate.to_dict()["case"], rate.to_dict()["kind"]) == ("interpolating", "exponential")
    assert rate.to_dict()["gamma"] == float(rate.gamma)
    assert rate.to_dict()["test_error"] == float(rate.point.test_error)
    assert FORMS["MessagePassing"](0.3).to_dict()["result"] in ("successful", "tolerance not met", "diverged")


def test_curves_have_their_axes():
    evolution = FORMS["StateEvolution"](0.3).to_xarray()
    assert evolution["test_error"].dims == ("step",)
    assert evolution["step"].to_numpy().tolist() == [1, 2, 3, 4, 5]
    path = FORMS["LassoPath"](0.3)
    assert np.array_equal(path.to_xarray()["test_error"].sel(time=100.0), path.test_error[1])
    phases = FORMS["Phases"](0.3)
    assert float(phases.to_xarray()["predicted"].sel(phase="lazy")) == phases.predicted["lazy"]


def test_closed_forms_under_jit_and_vmap():
    times = jax.vmap(lambda scale: fl.timescales(fl.DiagonalLinear(scale), TASK))(jnp.array([0.2, 0.3]))
    with pytest.raises(TypeError, match=r"Timescales: given a batch of shape \(2,\).*jax.tree.map"):
        times.to_dict()
    assert times._repr_html_().startswith("<pre>")
    alone = fl.timescales(PLAIN, TASK)
    assert jax.tree.map(lambda x: x[1], times).to_dict()["descent"] == pytest.approx(float(alone.descent), rel=1e-12)
    seen = []

    @jax.jit
    def traced(scale):
        inside = fl.timescales(fl.DiagonalLinear(scale), TASK)
        seen.append((inside == inside, inside == alone, inside._repr_html_()[:5]))
        return inside.search

    traced(jnp.array(0.3))
    assert seen == [(True, False, "<pre>")]
