"""Curves are held where a training is at rest, and nowhere else."""

import numpy as np
import pytest

import flowlimit as fl
from flowlimit.dmft.control import driver
from flowlimit.dmft.control.rest import at_rest
from flowlimit.dmft.ending import Ending

TASK = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
TIMES = np.geomspace(0.1, 100.0, 61)
END = Ending(0.0, 0.5)


def rests(test: np.ndarray, ending: Ending | None = END, *, rtol: float = 0.05, end: float = 1e6) -> bool:
    errors = np.stack([np.exp(-TIMES), test], axis=1)
    return at_rest(TIMES, errors, end, rtol, fl.PanelSolver(), lambda: ending)


def test_rest_is_at_the_end_and_lasts() -> None:
    assert rests(0.5 + 0.5 * np.exp(-TIMES))
    assert rests(0.5 + 0.1 / TIMES**2)


@pytest.mark.parametrize(
    "curve",
    [
        np.full(61, 1.0),  # a plateau
        0.5 + 0.1 * np.log(TIMES / TIMES[-1]),  # a curve that crosses its end just now
        0.5 + 0.5 / np.sqrt(TIMES),  # a slow one
        np.full(61, np.nan),
    ],
    ids=["plateau", "crossing", "slow", "nan"],
)
def test_what_is_no_rest(curve: np.ndarray) -> None:
    assert not rests(curve)


def test_rest_is_not_looked_for_late_in_time() -> None:
    calm = 0.5 + 0.5 * np.exp(-TIMES)
    assert not rests(calm, end=200.0)  # a tail may be what is looked at
    assert not rests(calm, ending=None)
    assert not rests(calm, Ending(0.1, 0.5))  # there is no training error, but there should be


def test_where_it_ends_is_asked_for_only_at_rest() -> None:
    def find() -> Ending | None:
        raise AssertionError("asked for")

    errors = np.stack([np.exp(-TIMES), 1.0 / TIMES], axis=1)
    assert not at_rest(TIMES, errors, 1e6, 0.05, fl.PanelSolver(), find)


@pytest.fixture(scope="module")
def held() -> fl.Limit:
    return fl.solve_dmft(fl.DiagonalLinear(2.0), TASK, fl.GradientFlow(1e6), rtol=0.1, key=0)


def test_a_long_flow_is_held_at_its_fixed_point(held: fl.Limit) -> None:
    """Between 10^2 and 10^6 the limit is the closed form's fixed point, within four standard errors."""
    end = held.stats.held_from
    assert end is not None
    assert end < 1e3
    late = held.times > end
    point = fl.fixed_point(held.model, TASK)
    assert late.sum() > 20
    assert np.all(np.abs(held.test_error - float(point.test_error))[late] < 4.0 * held.test_error_stderr[late])
    assert np.ptp(held.test_error[late]) == 0.0
    assert np.all(held.train_error[late] < 1e-6)
    assert np.all(held.train_error_stderr[late] >= held.train_error[late])
    assert f"at rest from time {end:.4g}" in repr(held)


def test_a_tail_is_not_fitted_to_what_is_held(held: fl.Limit) -> None:
    with pytest.raises(ValueError, match=r"stop: given .*rest_factor"):
        fl.fit_tail(held, start=1.0, stop=1e4)


def test_held_curves_agree_with_solved_ones(held: fl.Limit) -> None:
    """The same flow to five times the time at which it is held: nothing is held there, and both agree."""
    assert held.stats.held_from is not None
    last = 5.0 * held.stats.held_from
    own = fl.solve_dmft(held.model, TASK, fl.GradientFlow(last), rtol=0.1, key=1, save_at=np.array([1.0, last]))
    assert own.stats.held_from is None
    late = held.test_error[-1], held.test_error_stderr[-1]
    assert abs(own.test_error[-1] - late[0]) < 4.0 * np.hypot(own.test_error_stderr[-1], late[1])


def test_what_is_held_too_far_from_its_fixed_point_gets_more_paths(
    held: fl.Limit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not another solve that holds nothing: panels are chosen once."""
    begun, looks, begin, held_errors = [], [], driver._begin, driver.held_errors

    def count(*arguments):
        begun.append(arguments)
        return begin(*arguments)

    def far_at_first(measure, *arguments):
        looks.append(held_errors(measure, *arguments))
        return {name: 1.0 if len(looks) == 1 else error for name, error in looks[-1].items()}

    monkeypatch.setattr(driver, "_begin", count)
    monkeypatch.setattr(driver, "held_errors", far_at_first)
    limit = fl.solve_dmft(held.model, TASK, held.training, rtol=0.1, key=0)
    assert limit.result == fl.Outcome()
    assert len(begun) == 1
    assert limit.stats.held_from == held.stats.held_from
    assert held.stats.level is not None
    assert limit.stats.level == held.stats.level + 1
