"""Runs made elsewhere: tables and files become runs that are compared and drawn."""

import numpy as np
import pytest

import flowlimit as fl

TIMES = np.array([0.0, 0.5, 1.0])


def columns(trials=3):
    rng = np.random.default_rng(0)
    rows = [(t, i) for i in range(trials) for t in TIMES]
    noise = 0.01 * rng.normal(size=len(rows))
    return {
        "time": [t for t, _ in rows],
        "trial": [i for _, i in rows],
        "train_error": [np.exp(-2 * t) for t, _ in rows] + noise,
        "test_error": [1.0 + np.exp(-t) for t, _ in rows] + noise,
    }


def test_a_table_and_a_file_say_the_same(tmp_path):
    table = columns()
    path = tmp_path / "runs.csv"
    rows = np.stack([np.asarray(column, dtype=float) for column in table.values()], axis=1)
    np.savetxt(path, rows[::-1], delimiter=",", header=",".join(table), comments="", fmt="%.17g")
    one, two = fl.Runs.from_dataframe(table), fl.Runs.from_csv(path)
    assert one == two
    assert (one.trials, one.times.tolist()) == (3, TIMES.tolist())
    assert np.allclose(one.train_error, np.reshape(table["train_error"], (3, 3)).mean(axis=0))


def test_of_pandas():
    pandas = pytest.importorskip("pandas")
    assert fl.Runs.from_dataframe(pandas.DataFrame(columns())) == fl.Runs.from_dataframe(columns())


def test_they_are_compared_and_drawn_beside_ours():
    """A plain loop of linear descent against `simulate` on the same data, which is the same to rounding."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(30, 20)) / np.sqrt(20), np.zeros(20)
    y = X @ np.ones(20)
    found = []
    for step in range(11):
        r = X @ w - y
        found.append((0.1 * step, (r**2).mean(), ((w - 1.0) ** 2).mean()))
        w = w - 0.1 * 20 / 30 * X.T @ r
    theirs = fl.Runs.from_dataframe(
        dict(zip(("time", "train_error", "test_error"), zip(*found, strict=True), strict=True)), discrete=True
    )
    ours = fl.simulate(fl.Linear(), fl.Dataset(X, y, w_star=np.ones(20)), fl.GradientDescent(0.1, num_steps=10))
    assert np.allclose(theirs.test_error, ours.test_error, rtol=1e-12)
    assert len(fl.plot.curves(theirs, ours)) == 2


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"time": [0.0]}, "needs columns time"),
        ({"time": [0.0, 0.0], "loss": [1.0, 2.0]}, "several runs need a column trial"),
        ({"time": [0.0, 1.0], "loss": [1.0, "a"]}, "no numbers"),
        ({"time": [0.0, 1.0], "loss": [1.0, np.nan]}, "given gaps"),
        ({"time": [0.0, 1.0], "loss": [1.0]}, "rows"),
    ],
)
def test_refusals(table, message):
    with pytest.raises(ValueError, match=message):
        fl.Runs.from_dataframe(table)
