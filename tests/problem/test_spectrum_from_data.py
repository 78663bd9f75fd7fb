"""Spectra of tables: the principal basis, the ridge estimate, and what is refused."""

import numpy as np
import pytest

import flowlimit as fl
from flowlimit.data import principal_data
from flowlimit.numerics.principal import RIDGES, principal

ROWS = 40


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = 3.0 + rng.normal(size=(ROWS, 6)) @ rng.normal(size=(6, 6))
    return X, X @ np.ones(6) + 2.0 * rng.normal(size=ROWS)


def test_left_out_rows_are_left_out(table):
    """The ridge's error on left-out rows, against leaving them out one by one in the same basis, intercept and all."""
    X, y = table
    found = principal(X, y)
    s = found.variances * ROWS / 6
    best = np.inf
    for ridge in RIDGES:
        left = []
        for i in range(ROWS):
            rest = np.arange(ROWS) != i
            Z = np.c_[np.ones(ROWS), found.scores]
            penalty = np.diag(np.r_[0.0, np.full(6, ridge * ROWS / 6)])
            w = np.linalg.solve(Z[rest].T @ Z[rest] + penalty, Z[rest].T @ found.y[rest])
            left.append((found.y[i] - Z[i] @ w) ** 2)
        if np.mean(left) < best:
            best, kept = np.mean(left), found.scores.T @ found.y / (s + ridge * ROWS / 6)
    assert found.left_out == pytest.approx(best, rel=1e-9)
    assert np.allclose(found.weights, kept)


def test_data_and_law_agree(table):
    """Data in the principal basis have the law's variances exactly, and predictions do not depend on the basis."""
    data, law = principal_data(*table), fl.Spectrum.from_data(*table)
    assert np.allclose(np.mean(np.asarray(data.X) ** 2, axis=0) * 6, law.variances())
    assert np.allclose(data.w_star, law.targets)
    assert float(data.noise_var) == pytest.approx(1.0 - float(law.signal))
    assert float(law.signal) == pytest.approx(np.var(np.asarray(data.X) @ np.asarray(data.w_star)))
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0]
    turned = fl.Spectrum.from_data(table[0] @ turn, table[1])
    assert np.allclose(turned.variances(), law.variances())
    assert float(turned.signal) == pytest.approx(float(law.signal))


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.ones((4, 2)), np.arange(4.0), "X: given one whose rows are all alike"),
        (np.eye(4), np.ones(4), "y: given one whose rows are all alike"),
        (np.eye(4), np.ones(3), r"given shapes \(4, 4\) and \(3,\)"),
        (np.eye(2), np.arange(2.0), "at least 3 rows"),
        (np.diag([np.nan, 1.0, 1.0]), np.arange(3.0), "X: given nan"),
    ],
)
def test_refuses(X, y, words):
    with pytest.raises(ValueError, match=words):
        fl.Spectrum.from_data(X, y)


def test_words_are_refused():
    with pytest.raises(TypeError, match="needs numbers"):
        fl.Spectrum.from_data([["a"]], [1.0])
