"""What errors are relative to, and which panel a time error comes from."""

import numpy as np
import pytest

import flowlimit as fl
from flowlimit.dmft.errors import RELATIVE_FLOOR, Replicas, judge
from flowlimit.dmft.grid import HANDED_ON, Grid

EASY = fl.Regression(10.0, 0.0, fl.Bernoulli(0.1))


def replicas_of(values, start):
    """Replicas of one curve at one saved time, with no error in time."""
    whole = [{"loss": np.array([value])} for value in values]
    nothing = [{"loss": np.zeros(1)} for _ in values]
    return Replicas(whole, [], nothing, None, ("loss",), [{"loss": start} for _ in values])


def test_errors_are_relative_down_to_a_part_of_the_start():
    """A curve that is saved only where it is negligible need not be known there: its start is that of training."""
    values, start = [1e-13, 2e-13, 3e-13], 1.0
    assert judge(replicas_of(values, start), rtol=1e-2).total < 1.0
    assert replicas_of(values, start).scale("loss") == pytest.approx([RELATIVE_FLOOR * start])
    assert judge(replicas_of(values, values[0]), rtol=1e-2).total > 1.0


def test_one_late_save_is_asked_no_more_than_many():
    """A training error far below what needs to be known: leaving out the first saved time changes nothing."""
    training = fl.GradientDescent(0.08, 25)
    every, last = (
        fl.solve_dmft(fl.DiagonalLinear(3.0), EASY, training, rtol=0.1, save_at=save_at, time_limit=100.0)
        for save_at in ([0.0, 2.0], [2.0])
    )
    assert every.train_error[-1] < RELATIVE_FLOOR * every.train_error[0]
    assert last.result.code is fl.Code.SUCCESSFUL
    assert {name: last.stats[name] for name in ("level", "replicas", "nodes")} == {
        name: every.stats[name] for name in ("level", "replicas", "nodes")
    }


@pytest.mark.parametrize(
    ("tails", "sources"),
    [
        ([1.0, 2.0, 3.0], [0, 1, 2]),
        ([1.0, 0.5 * HANDED_ON, 2.0 * HANDED_ON], [0, 0, 2]),
        ([0.1, 5.0, 0.1, 0.1], [0, 1, 1, 1]),
    ],
)
def test_time_errors_come_from_the_panel_that_left_them(tails, sources):
    tails = np.array(tails)
    assert Grid.sources(tails).tolist() == sources
    own = np.arange(len(tails)) == Grid.sources(tails)
    assert Grid.carried(tails) == pytest.approx(np.where(own, tails, HANDED_ON * tails[sources]))
