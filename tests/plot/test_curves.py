"""Pictures: panels, labels, error bars."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.plot.labels import result_labels


@pytest.fixture(scope="module")
def results():
    task = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    models = [fl.DiagonalLinear(0.3), fl.DiagonalLinear(1.0)]
    return fl.simulate(models, task, fl.GradientDescent(0.1, num_steps=40), dim=40, trials=3)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_two_panels_with_error_bars(results):
    axes = fl.plot.curves(results)
    assert [a.get_ylabel() for a in axes] == ["training error", "test error"]
    assert all(a.get_xlabel() == "time $t$" and a.get_xscale() == "log" for a in axes)
    (legend,) = axes[0].figure.legends
    assert [t.get_text() for t in legend.get_texts()] == ["init_scale 0.3", "init_scale 1"]
    bars = axes[1].containers[0]
    points = np.asarray(bars.lines[0].get_xydata())
    segments = bars.lines[2][0].get_segments()
    curve = results[0].at(points[:, 0])
    assert points[:, 1] == pytest.approx(curve.test_error)
    assert [s[1][1] - s[0][1] for s in segments] == pytest.approx(2 * curve.test_error_stderr)


def test_own_axes_and_labels(results):
    figure, axis = plt.subplots()
    (drawn,) = fl.plot.curves(results[0], names=["loss"], labels=["mine"], ax=axis)
    assert drawn is axis
    assert axis.get_legend().get_texts()[0].get_text() == "mine"
    figure.canvas.draw()


def test_labels_say_what_differs(results):
    task = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    linear = fl.simulate(fl.Linear(), task, fl.GradientDescent(0.1, num_steps=4), dim=40, trials=2)
    assert result_labels(results[:1]) == ["DiagonalLinear"]
    assert result_labels([results[0], linear])[0].startswith("DiagonalLinear, ")
    assert result_labels([results[0], linear])[1].startswith("Linear, ")


@pytest.mark.slow
def test_labels_show_kinds_and_number_what_is_alike(results):
    training = fl.GradientDescent(0.1, num_steps=2)
    tasks = [fl.Regression(0.5, noise_var=0.01, target=law) for law in (fl.Bernoulli(0.1), fl.SparseRademacher(0.1))]
    runs = [fl.simulate(fl.Linear(), task, training, dim=20, trials=2) for task in tasks]
    assert result_labels(runs) == ["Bernoulli", "SparseRademacher"]
    assert result_labels([runs[0], runs[0]]) == ["Linear (1)", "Linear (2)"]


def test_an_unknown_error_has_no_bar():
    runs = fl.simulate(
        fl.Linear(),
        fl.Regression(0.5, noise_var=0.01, target=fl.Normal()),
        fl.GradientDescent(0.1, num_steps=9),
        dim=20,
        trials=1,
    )
    segments = fl.plot.curves(runs)[0].containers[0].lines[2][0].get_segments()
    assert not any(len(segment) and np.isfinite(segment).all() for segment in segments)


def test_refusals(results):
    with pytest.raises(ValueError, match="names: given typo, needs some of train_error, test_error"):
        fl.plot.curves(results, names=["train_error", "typo"])
    with pytest.raises(ValueError, match="results: given none"):
        fl.plot.curves()
    with pytest.raises(ValueError, match="labels: given 1, needs 2"):
        fl.plot.curves(results, labels=["a"])
    with pytest.raises(ValueError, match="ax: given 1 of type Axes, needs 2 matplotlib axes, one for each"):
        fl.plot.curves(results, ax=plt.subplots()[1])
