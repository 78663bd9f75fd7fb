"""The pilot: more paths where few do not get through, and an end where more do not help."""

from unittest import mock

import pytest

import flowlimit as fl
from flowlimit.dmft.control import driver, pilot, plan
from flowlimit.dmft.control.pilot import BlowUpError, Progress, RoomError

TASK = fl.Regression(aspect_ratio=2.0, noise_var=0.01, target=fl.Bernoulli(0.1))
FLOW = fl.GradientFlow(2.0)


def solved(monkeypatch, ends, crawls=(), **options):
    """Solve with pilots that blow up at given times, level by level; return the limit and the levels tried."""
    tried, pilot = [], driver._pilot

    def failing(plan, saves, known, watch, ending, level):
        tried.append(level)
        if level in ends:
            raise BlowUpError(ends[level])
        if level in crawls:
            raise RoomError(mock.Mock(spec=Progress))
        return pilot(plan, saves, known, watch, ending, level)

    monkeypatch.setattr(driver, "_pilot", failing)
    limit = fl.solve_dmft(fl.DiagonalLinear(0.3), TASK, FLOW, rtol=0.1, key=0, throw=False, progress=False, **options)
    return limit, tried


def test_more_paths_are_tried_where_a_pilot_does_not_get_through(monkeypatch):
    """The solve goes on at the level that got through, with no word from the user."""
    limit, tried = solved(monkeypatch, {-1: 1.0})
    assert tried == [-1, 0]
    assert limit.result.code is fl.Code.SUCCESSFUL
    assert limit.stats.level >= 0


@pytest.mark.parametrize(
    ("ends", "levels"),
    [({-1: 1.0, 0: 1.1, 1: 1.1}, [-1, 0]), ({-1: 0.1, 0: 1.0, 1: 1.5}, [-1, 0, 1]), ({-1: 0.0, 0: 0.0}, [-1, 0])],
)
def test_a_training_that_ceases_to_be_finite_is_given_up(monkeypatch, ends, levels):
    """More paths take the pilot no further; the advice names more than were tried."""
    limit, tried = solved(monkeypatch, ends)
    assert tried == levels
    assert limit.result.code is fl.Code.DIVERGED
    advice = eval(limit.result.message.partition("try solver=")[2], {"fl": fl})
    assert advice.first_paths > fl.PanelSolver().first_paths * 4.0 ** levels[-1]


def test_a_pilot_that_crawls_is_not_followed(monkeypatch):
    """Unstable at time 11 000 with few paths, it filled array after array and never came to t = 10^6."""
    limit, tried = solved(monkeypatch, {}, crawls=(-1, 0))
    assert tried == [-1, 0, 1]
    assert limit.stats.level == 1
    assert driver._crawls((0.0, 700.0, 1e4, 1.1e4, 1.11e4))
    assert not driver._crawls((0.0, 1.0, 2.0, 3.0, 4.0))  # panels of one length, near the stability edge


def test_no_level_beyond_the_last(monkeypatch):
    """A user's last level holds, whatever the pilot would gain."""
    solver = fl.PanelSolver(last_level=0)
    _, tried = solved(monkeypatch, {-1: 0.1, 0: 1.0, 1: 10.0}, solver=solver)
    assert tried == [-1, 0]


def test_a_pilot_goes_on_in_larger_arrays(monkeypatch):
    """With the same paths, and nothing solved twice: panels are those of arrays that were large enough at once."""
    stiff = fl.DiagonalLinear(10.0, weight_decay=0.1), TASK, fl.GradientFlow(20.0)
    calls, advance = [], pilot.advance_blocks

    def counted(fixed, rows):
        calls.append(float(fixed[1].times[0, 0]))
        return advance(fixed, rows)

    monkeypatch.setattr(pilot, "advance_blocks", counted)
    large = fl.solve_dmft(*stiff, rtol=0.1, key=0, throw=False, progress=False)
    once = len(calls)
    monkeypatch.setattr(plan, "PANEL_CHUNKS", 4)
    short = fl.solve_dmft(*stiff, rtol=0.1, key=0, throw=False, progress=False)
    assert short.stats.nodes > 64  # more than its first arrays hold
    assert calls[once:] == sorted(calls[once:])  # time never goes back: none was begun anew
    # normals of further nodes are drawn with larger arrays, so that later panels may differ in length
    assert short.stats.edges[:5] == pytest.approx(large.stats.edges[:5], rel=0.3)
    assert short.test_error[-1] == pytest.approx(large.test_error[-1], rel=0.1)
