"""Tables made ready: what is taken away, what is divided by, and predictions in the table's own units."""

import numpy as np
import pytest

import flowlimit as fl


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = 3.0 + rng.normal(size=(30, 12)) * np.arange(1.0, 13.0)
    return X, 5.0 + X[:, 0] - 0.2 * X[:, 3]


def test_columns_and_labels_are_standardised(table):
    prepared = fl.prepare(*table)
    X, y = np.asarray(prepared.dataset.X), np.asarray(prepared.dataset.y)
    assert np.allclose(X.mean(axis=0), 0.0)
    assert np.allclose((X**2).mean(axis=0), 1.0 / 12)
    assert np.allclose([y.mean(), (y**2).mean()], [0.0, 1.0])


@pytest.mark.parametrize(("centre", "scale"), [(True, True), (True, False), (False, True), (False, False)])
def test_predictions_are_those_of_the_prepared_model(table, centre, scale):
    X, y = table
    prepared = fl.prepare(X, y, centre=centre, scale=scale)
    w = np.random.default_rng(1).normal(size=12)
    inside = np.asarray(prepared.dataset.X) @ w
    assert np.allclose(prepared.predict(w, X), prepared.y_mean + prepared.y_scale * inside)
    assert np.allclose(prepared.predict(w, X), X @ prepared.coefficients(w) + prepared.intercept(w))
    assert "30 samples, dim 12" in repr(prepared)


def test_least_squares_comes_back_in_its_own_units(table):
    """Exactly linear labels: the weights that fit give the coefficients they were made with."""
    prepared = fl.prepare(*table)
    w = np.linalg.lstsq(np.asarray(prepared.dataset.X), np.asarray(prepared.dataset.y), rcond=None)[0]
    expected = np.zeros(12)
    expected[[0, 3]] = 1.0, -0.2
    assert np.allclose(prepared.coefficients(w), expected)
    assert np.isclose(prepared.intercept(w), 5.0)


def test_names_of_a_data_frame(table):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table[0], columns=[f"gene {i}" for i in range(12)])
    prepared = fl.prepare(frame, pandas.Series(table[1]))
    assert prepared.names[3] == "gene 3"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, y: (np.c_[X, np.ones(30)], y), "1 columns that do not vary .12."),
        (lambda X, y: (X, np.ones(30)), "there is nothing to learn"),
        (lambda X, y: (X, y[:5]), r"y: given shape \(5,\), needs \(30,\)"),
        (lambda X, y: (np.where(X > 20, np.nan, X), y), "not finite"),
    ],
)
def test_refusals(table, spoil, message):
    with pytest.raises(ValueError, match=message):
        fl.prepare(*spoil(*table))


def test_predictions_need_the_same_columns(table):
    prepared = fl.prepare(*table)
    with pytest.raises(ValueError, match="with the same columns"):
        prepared.predict(np.zeros(12), np.zeros((2, 11)))
    with pytest.raises(ValueError, match="weights: given shape"):
        prepared.coefficients(np.zeros(11))
