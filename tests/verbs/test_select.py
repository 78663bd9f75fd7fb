"""A choice among models and stopping times: the same estimates, differences with bars of their own, refusals."""

import json

import numpy as np
import pytest

import flowlimit as fl

DESCENT = fl.GradientDescent(0.2, num_steps=30)
MODELS = [fl.DiagonalLinear(0.1), fl.DiagonalLinear(0.3), fl.DiagonalLinear(1.0)]


@pytest.fixture(scope="module")
def selected(small):
    return fl.select(MODELS, small, DESCENT, probes=8, key=1)


def test_models_together_are_the_models_alone(selected, small):
    """One batch; equal but for the order in which sums are taken."""
    alone = fl.estimate_test_error(MODELS[1], small, DESCENT, key=1)
    for name in ("train_error", "test_error", "test_error_stderr"):
        assert np.allclose(getattr(selected.estimates[1], name), getattr(alone, name), rtol=1e-9)
    assert selected.estimates[1].problem == alone.problem


def test_the_choice_is_the_smallest(selected):
    errors, choice = selected.curve("test_error"), selected.choice
    index, at = np.unravel_index(errors.argmin(), errors.shape)
    assert (choice.place, choice.time, choice.test_error) == (index, selected.times[at], errors[index, at])
    assert selected.model is MODELS[index]
    assert (selected.weights == selected.estimates[index].weights[at]).all()
    assert selected.within[index, at]
    assert (selected.ratio[index, at], selected.ratio_stderr[index, at]) == (1.0, 0.0)
    assert np.isclose(selected.share.sum(), 1.0)
    assert selected.choice.optimism > 0.0


def test_ratios_are_known_better_than_the_errors(small):
    """Samples and probes are common: models that are nearly the same differ by nearly nothing, with a small bar."""
    near = fl.select([MODELS[1], MODELS[1], fl.DiagonalLinear(0.31)], small, DESCENT, probes=8, key=1)
    at = int(near.estimates[0].test_error.argmin())
    assert np.allclose(near.ratio[:2, at] / near.ratio[0, at], 1.0, atol=1e-9)
    alone = near.choice.test_error_stderr / near.choice.test_error
    assert (near.ratio_stderr[:, at] / near.ratio[:, at] < 0.3 * alone).all()


def test_kinds_may_be_mixed_and_what_diverges_is_left_out(small):
    models = [fl.Linear(), fl.DiagonalLinear(6.0), MODELS[1]]
    found = fl.select(models, small, DESCENT, probes=8, throw=False)
    assert found.result.code is fl.Code.DIVERGED
    assert np.isnan(found.ratio[1]).all()
    assert not np.isnan(found.ratio[[0, 2]]).any()
    assert found.share[1] == 0.0
    assert not found.within[1].any()
    assert not fl.select(models[1:2], small, DESCENT, probes=8, throw=False).within.any()
    assert "DiagonalLinear(init_scale=6): diverged: ceased" in repr(found)
    with pytest.raises(fl.FlowlimitError, match="ceased to be finite"):
        fl.select(models, small, DESCENT)


def test_it_is_drawn_and_written(selected, tmp_path):
    axes = fl.plot.selection(selected)
    assert axes[1].get_yticklabels()[0].get_text() == "init_scale 0.1"
    assert "choice: DiagonalLinear(init_scale=" in repr(selected)
    assert "<table>" in selected._repr_html_()
    for ending in (".csv", ".json", ".nc"):
        fl.save(selected, tmp_path / f"a{ending}")
    rows = (tmp_path / "a.csv").read_text().splitlines()
    assert len(rows) == 1 + 3 * 31
    assert json.loads((tmp_path / "a.json").read_text())["choice_time"] == selected.choice.time
    assert selected.to_xarray()["test_error"].dims == ("model", "time")


def test_it_comes_back_from_a_file(selected, small, tmp_path):
    fl.save(selected, tmp_path / "selected.zarr")
    back = fl.load(tmp_path / "selected.zarr", task=small)
    assert back == selected
    assert (repr(back), back.choice, back.model) == (repr(selected), selected.choice, selected.model)
    assert [one.stats for one in back.estimates] == [one.stats for one in selected.estimates]
    assert back.best.task is small
    with pytest.raises(ValueError, match="model: given Linear"):
        fl.load(tmp_path / "selected.zarr", model=fl.Linear())


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([], "given an empty list"),
        ([fl.Linear(), fl.Reparametrized(lambda x: x, init=[0.1, 0.1])], "output"),
    ],
    ids=str,
)
def test_refusals(models, message, small):
    with pytest.raises((TypeError, ValueError), match=message):
        fl.select(models, small, DESCENT)
