"""`fl.check` and `fl.compare`: runs that agree pass, and runs of another problem do not."""

import numpy as np
import pytest

import flowlimit as fl

PROBLEM = fl.Linear(), fl.Regression(2.0, 0.1, fl.Normal()), fl.GradientDescent(0.5, 6)


def test_check_compares_at_every_dim():
    """4 standard errors at 2 curves and 6 times: chance 1e-3 that a true limit fails."""
    trust = fl.check(*PROBLEM, dims=(200, 50), trials=20)
    assert trust
    assert trust.dims == (50, 200)
    assert len(trust.comparisons) == 2
    np.testing.assert_allclose(trust.comparisons[0].times, [0.5, 1.0, 1.5, 2.0, 2.5, 3.0])  # steps, not between them
    assert "agree" in repr(trust)
    assert trust.outcome.message == ""


def test_check_fails_where_limit_and_runs_differ():
    trust = fl.check(*PROBLEM, dims=(50, 200), trials=20)
    other = fl.simulate(fl.Linear(), fl.Regression(2.0, 0.4, fl.Normal()), PROBLEM[2], dim=200, trials=20, key=0)
    wrong = fl.Trust(trust.limit, trust.dims, (other, other), (fl.compare(trust.limit, other),) * 2)
    assert not wrong
    assert "DISAGREE: the largest dim" in repr(wrong)


def test_check_refuses_what_cannot_be_compared():
    with pytest.raises(ValueError, match="trials: given 1, needs an int of at least 2"):
        fl.check(*PROBLEM, dims=(200,), trials=1)
