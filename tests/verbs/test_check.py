"""`fl.check` and `fl.compare`: runs that agree pass, and runs of another problem do not."""

import numpy as np
import pytest

import flowlimit as fl
from flowlimit.results import Code, Limit, Outcome

PROBLEM = fl.Linear(), fl.Regression(2.0, noise_var=0.1, target=fl.Normal()), fl.GradientDescent(0.5, num_steps=6)


@pytest.mark.slow
def test_check_compares_at_every_dim():
    """4 standard errors at 2 curves and 6 times: chance 1e-3 that a true limit fails."""
    trust = fl.check(*PROBLEM, dims=(200, 50), trials=20)
    assert trust
    assert trust.dims == (50, 200)
    assert len(trust.comparisons) == 2
    np.testing.assert_allclose(trust.comparisons[0].times, [0.5, 1.0, 1.5, 2.0, 2.5, 3.0])  # steps, not between them
    assert "agree" in repr(trust)
    assert trust.outcome.message == ""


@pytest.mark.slow
def test_check_fails_where_limit_and_runs_differ():
    trust = fl.check(*PROBLEM, dims=(50, 200), trials=20)
    other = fl.simulate(
        fl.Linear(), fl.Regression(2.0, noise_var=0.4, target=fl.Normal()), PROBLEM[2], dim=200, trials=20, key=0
    )
    wrong = fl.Trust(trust.limit, trust.dims, (other, other), (fl.compare(trust.limit, other),) * 2)
    assert not wrong
    assert "DISAGREE: the largest dim" in repr(wrong)


def test_check_refuses_what_cannot_be_compared():
    with pytest.raises(ValueError, match="trials: given 1, needs an int of at least 2"):
        fl.check(*PROBLEM, dims=(200,), trials=1)


def test_check_without_a_limit_says_why(monkeypatch):
    """Before, it raised about save_at; runs are not worth their time then."""
    empty, parts = {"train_error": np.zeros((0, 0)), "test_error": np.zeros((0, 0))}, {}
    limit = Limit(np.zeros(0), empty, True, parts, parts, parts, Outcome(Code.TIMEOUT, "no replica in 1 s"))
    monkeypatch.setattr("flowlimit.verbs.check.solve_dmft", lambda *nouns, **options: limit)
    trust = fl.check(*PROBLEM)
    assert (trust.passed, trust.failed, trust.runs, trust.comparisons) == (False, True, (), ())
    assert trust.outcome.code is Code.TIMEOUT
    assert repr(trust) == "no verdict: timeout: no replica in 1 s"


@pytest.mark.slow
def test_check_of_runs_that_fail_is_no_disagreement(monkeypatch):
    """Runs that diverge, or are stopped after the first trial, are not compared with the limit."""
    wild = fl.simulate(
        fl.DiagonalLinear(3.0), PROBLEM[1], fl.GradientDescent(0.5, num_steps=50), dim=40, trials=2, throw=False
    )
    stopped = fl.simulate(*PROBLEM, dim=40, trials=2, progress=lambda fraction, message: True)
    for runs, code in [(wild, Code.DIVERGED), (stopped, Code.STOPPED)]:
        monkeypatch.setattr("flowlimit.verbs.check.simulate", lambda *nouns, runs=runs, **options: runs)
        trust = fl.check(*PROBLEM)
        assert (trust.passed, trust.failed, trust.outcome.code) == (False, True, code)
        assert repr(trust).startswith(f"no verdict: {code}: ")
