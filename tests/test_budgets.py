"""Budgets: time and memory are checked, kept, and counted whole; sizes that cannot work are refused at once."""

import time

import pytest

import flowlimit as fl
from flowlimit.numerics.deadline import checked_seconds
from flowlimit.numerics.memory import checked_bytes

TASK = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
NETWORK = fl.DiagonalLinear(0.3)


@pytest.mark.parametrize("limit", [-1, 0, float("nan")])
def test_limits_that_are_none(limit):
    with pytest.raises(ValueError, match=r"memory_limit.*bytes"):
        fl.solve_dmft(NETWORK, TASK, fl.GradientFlow(1.0), memory_limit=limit)
    with pytest.raises(ValueError, match=r"memory_limit.*bytes"):
        fl.simulate(NETWORK, TASK, fl.GradientFlow(1.0), dim=10, memory_limit=limit)
    with pytest.raises(ValueError, match=r"time_limit.*seconds"):
        fl.solve_dmft(NETWORK, TASK, fl.GradientFlow(1.0), time_limit=limit)


@pytest.mark.parametrize("given", ["4GB", True, [1]])
def test_words_for_limits(given):
    """Of another type than a number; verbs check types as well where tests run."""
    with pytest.raises(ValueError, match=r"memory_limit: given .*4 GiB"):
        checked_bytes("memory_limit", given)
    with pytest.raises(ValueError, match=r"time_limit: given .*60"):
        checked_seconds("time_limit", given)


def refused(call):
    """Seconds until a call refuses."""
    began = time.perf_counter()
    with pytest.raises((ValueError, fl.FlowlimitError), match="memory_limit"):
        call()
    return time.perf_counter() - began


@pytest.mark.parametrize(
    "model", [NETWORK, fl.Linear(), fl.Linear(init_scale=1.0)], ids=["network", "linear", "linear, random"]
)
def test_a_billion_steps_are_refused_at_once(model):
    """By the first call of their kind within seconds, since tracing a model takes some, and at once after that."""
    training = fl.GradientDescent(0.1, num_steps=10**9)
    calls = [
        lambda: fl.solve_dmft(model, TASK, training),
        lambda: fl.simulate(model, TASK, training, dim=100),
        lambda: fl.simulate(model, TASK, fl.GradientDescent(0.1, num_steps=10), dim=10**12),
    ]
    for call in calls:
        refused(call)
        assert refused(call) < 1.0


def test_memory_holds_for_linear_models():
    """Their number of paths follows from the number of steps, and was not compared with what is allowed."""
    seconds = refused(
        lambda: fl.solve_dmft(
            fl.Linear(),
            TASK,
            fl.GradientDescent(0.01, num_steps=20_000),
            solver=fl.StepSolver(),
            memory_limit=2**30,
        )
    )
    assert seconds < 60.0


def test_no_answer_raises_and_says_so():
    """A limit that ends before there are error bars has no answer: that is a code of its own, and an error."""
    problem = NETWORK, TASK, fl.GradientDescent(0.1, num_steps=5)
    with pytest.raises(fl.FlowlimitError, match=r"no answer.*time_limit"):
        fl.solve_dmft(*problem, time_limit=1e-3)
    limit = fl.solve_dmft(*problem, time_limit=1e-3, throw=False)
    assert limit.result.code is fl.Code.NO_ANSWER
    assert limit.replicas == 0
