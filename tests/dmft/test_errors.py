"""What errors are relative to, and which panel a time error comes from."""

import jax
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.dmft.control.errors import RELATIVE_FLOOR, Errors, Replicas, estimate_bias, judge, student_factor
from flowlimit.dmft.control.plan import make_plan
from flowlimit.dmft.control.work import Work, coarse_panels
from flowlimit.dmft.readout.curves import curves_of, starts_of, time_errors
from flowlimit.dmft.readout.grid import HANDED_ON, Grid, make_grid
from flowlimit.dmft.readout.measure import Measure
from flowlimit.dmft.readout.solution import Solution
from flowlimit.dmft.sampling.paths import Counts

ORDER = 8

EASY = fl.Regression(10.0, noise_var=0.0, target=fl.Bernoulli(0.1))


def replicas_of(values, start):
    """Replicas of one curve at one saved time, with no error in time."""
    whole = [{"loss": np.array([value])} for value in values]
    nothing = [{"loss": np.zeros(1)} for _ in values]
    starts = [{"loss": start} for _ in values]
    return Replicas(whole, whole[:1], time_errors=nothing, judged=("loss",), starts=starts)


def test_errors_are_relative_down_to_a_part_of_the_start():
    """A curve that is saved only where it is negligible need not be known there: its start is that of training."""
    values, start = [1e-13, 2e-13, 3e-13], 1.0
    assert judge(replicas_of(values, start), rtol=1e-2).total < 1.0
    assert replicas_of(values, start).scale("loss") == pytest.approx([RELATIVE_FLOOR * start])
    assert judge(replicas_of(values, values[0]), rtol=1e-2).total > 1.0


@pytest.mark.slow
def test_one_late_save_is_asked_no_more_than_many():
    """A training error far below what needs to be known: leaving out the first saved time changes nothing."""
    training = fl.GradientDescent(0.08, num_steps=25)
    every, last = (
        fl.solve_dmft(fl.DiagonalLinear(3.0), EASY, training, rtol=0.1, save_at=save_at, time_limit=100.0)
        for save_at in ([0.0, 2.0], [2.0])
    )
    assert every.train_error[-1] < RELATIVE_FLOOR * every.train_error[0]
    assert last.result.code is fl.Code.SUCCESSFUL
    sizes = lambda stats: (stats.level, stats.replicas, stats.nodes)
    assert sizes(last.stats) == sizes(every.stats)


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


FLOW = fl.GradientFlow(3.0)


def plan_of(rtol):
    return make_plan(fl.Linear(), EASY, FLOW, key=jax.random.key(0), rtol=rtol, measure=Measure(()), memory_limit=2**30)


def work_of(plan, saves, ripple):
    """A solve in progress on three panels, whose root has a ripple that the first panel does not resolve."""
    grid = make_grid(FLOW.clock, np.array([0.0, 1.0, 2.0, 3.0]), saves, 8)
    L = np.zeros((grid.nodes, grid.nodes))
    L[:, 0] = 1.0
    L[:ORDER, 0] += ripple * (-1.0) ** np.arange(ORDER)
    solution = Solution(np.zeros_like(L), np.eye(grid.nodes), L, np.ones((grid.nodes, plan.measure.count)))
    read = lambda function: [function(plan.measure, grid, solution)] * 2
    replicas = Replicas(
        read(curves_of), time_errors=read(time_errors), judged=plan.measure.judged, starts=read(starts_of)
    )
    return Work(grid, None, 0, Counts(128, 32), None, replicas, [solution], look=4)


@pytest.mark.parametrize(("ripple", "coarse"), [(0.1, [0]), (1e-6, [])])
def test_the_panel_that_is_split_is_the_one_that_left_the_error(ripple, coarse):
    plan = plan_of(1e-3)
    assert coarse_panels(plan, work_of(plan, np.array([2.5]), ripple)).tolist() == coarse


@pytest.mark.parametrize("of", [2, 4])
def test_a_bias_that_falls_with_the_paths_is_found(of):
    """A bias of b at M paths is ``of`` times b in its parts, and what is random in these is so in the whole."""
    values = lambda *values: [{"loss": np.array([value])} for value in values]
    truth, b, noise = 1.0, 0.03, 0.1
    whole = values(truth + b - noise, truth + b + noise, truth + b)
    parts = values(truth + of * b - noise, truth + of * b + noise)
    assert estimate_bias(Replicas(whole, parts, of), "loss") == pytest.approx([b])


def test_without_parts_the_bias_is_not_known():
    """No error bar claims what nothing has told: such replicas alone are no answer."""
    assert np.isinf(estimate_bias(Replicas([{"loss": np.ones(3)}] * 4), "loss")).all()


def test_two_standard_errors_fit_into_the_accuracy():
    """Errors are judged at two sigmas, with Student's factor on the spread of few replicas; parts add up as squares."""
    values = [1.0, 1.1, 1.2, 1.3]
    stderr = student_factor(4) * np.std(values, ddof=1) / 2.0
    found = judge(replicas_of(values, 1.0), rtol=0.1)
    assert found.total == found.statistical == pytest.approx(2.0 * stderr / (0.1 * 1.15))
    parts = [np.array([x]) for x in (0.3, 0.4, 1.2)]
    assert Errors(*parts).total == pytest.approx([1.3])
