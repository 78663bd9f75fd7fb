"""Numbers of thousands of digits, which do not print and are no float: refused by the name of their argument."""

import pytest

import flowlimit as fl

HUGE = 10**5000
TASK, FLOW = fl.Regression(0.5, noise_var=0.01, target=fl.Normal()), fl.GradientFlow(1.0)
CASES = {
    "dim": lambda: fl.simulate(fl.Linear(), TASK, FLOW, dim=HUGE),
    "trials": lambda: fl.simulate(fl.Linear(), TASK, FLOW, dim=10, trials=HUGE),
    "memory_limit": lambda: fl.simulate(fl.Linear(), TASK, FLOW, dim=10, memory_limit=-HUGE),
    "num_steps": lambda: fl.state_evolution(fl.DiagonalLinear(0.3), TASK, num_steps=HUGE),
    "path": lambda: fl.load("a" * 10_000),
}


@pytest.mark.parametrize("name", list(CASES))
def test_refused_by_name(name):
    with pytest.raises((ValueError, TypeError, OSError), match=f"^{name}: given"):
        CASES[name]()
