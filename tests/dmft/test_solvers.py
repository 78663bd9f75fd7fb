"""Solvers as objects: their numbers decide how a limit is found and not which; one's own is asked like ours."""

from dataclasses import dataclass, fields

import numpy as np
import pytest

import flowlimit as fl
from flowlimit.dmft.settings import PanelSettings, PathSettings, StepSettings

MODEL, TASK = fl.DiagonalLinear(init_scale=0.5), fl.Regression(1.5, noise_var=0.1, target=fl.Bernoulli(0.3))
FLOW, STEPS = fl.GradientFlow(2.0), fl.GradientDescent(0.2, num_steps=6)
NOISY = fl.Langevin(0.1, step_size=0.2, num_steps=6)


@pytest.fixture(scope="module")
def default():
    return fl.solve_dmft(MODEL, TASK, FLOW, rtol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("order", [6, 11])
def test_panels_of_another_order_find_the_same_limit(order, default):
    """Within 4 combined standard errors; the grid has that order."""
    other = fl.solve_dmft(MODEL, TASK, FLOW, rtol=0.05, solver=fl.PanelSolver(order=order), key=1)
    assert len(other.kernels.times) % order == 0
    apart = np.abs(other.test_error - default.test_error)[1:]
    assert (apart < 4.0 * np.hypot(other.test_error_stderr, default.test_error_stderr)[1:]).all()


def test_numbers_of_a_solver_are_read():
    paths = fl.StepSolver(first_paths=256, first_look=6, quick_look=3)
    limit = fl.solve_dmft(MODEL, TASK, STEPS, rtol=0.19, solver=paths)
    assert limit.replicas >= 3
    assert "first_paths=256" in limit.provenance["solver"]


@pytest.mark.slow
def test_the_defaults_are_the_solvers_of_the_clock(default):
    assert default.provenance["solver"] == repr(fl.PanelSolver())
    again = fl.solve_dmft(MODEL, TASK, FLOW, rtol=0.05, solver=fl.PanelSolver())
    np.testing.assert_array_equal(again.test_error, default.test_error)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fl.PanelSolver(order=3), "order: given 3, needs an int from 4 to 16"),
        (lambda: fl.PanelSolver(safety=float("nan")), "safety: given nan"),
        (lambda: fl.PanelSolver(shrink=(0.5, 2.0)), "shrink: given"),
        (lambda: fl.StepSolver(first_paths=500), "first_paths: given 500, needs a power of two"),
        (lambda: fl.StepSolver(replicas=30), "replicas: given first_look=4, replicas=30"),
        (lambda: fl.StepSolver(last_level=40), "last_level: given"),
        (lambda: fl.StepSolver(first_paths=16), "first_paths: given 16, which leaves less"),
        (lambda: fl.StepSolver(response_parts=()), "response_parts: given"),
        (lambda: fl.solve_dmft(MODEL, TASK, FLOW, solver=fl.StepSolver()), "needs fl.PanelSolver"),
        (lambda: fl.solve_dmft(MODEL, TASK, NOISY, solver=fl.PanelSolver()), "needs fl.StepSolver"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


@pytest.mark.parametrize("settings", [PathSettings, StepSettings, PanelSettings])
def test_every_number_is_documented(settings):
    own = (
        {field.name for field in fields(settings)} - {field.name for field in fields(settings.__base__)}
        if (settings is not PathSettings)
        else {field.name for field in fields(settings)}
    )
    head = [
        line.strip()
        for line in settings.__doc__.splitlines()
        if line.startswith("    ") and not line.startswith("     ")
    ]
    named = {name.strip() for line in head for name in line.split(",")}
    assert own <= named, own - named


@dataclass(frozen=True)
class Frozen(fl.AbstractSolver):
    """Answers that nothing moves; or that there is no answer."""

    fails: bool = False

    def solve(self, request):
        if self.fails:
            return fl.SolverAnswer(outcome=fl.Outcome(fl.Code.DIVERGED, "as asked for"))
        start = float(request.task.target.second_moment + request.task.noise_var)
        curve = np.full((1, len(request.saves)), start)
        return fl.SolverAnswer(values={"train_error": curve, "test_error": curve})


def test_a_solver_of_ones_own_is_asked():
    limit = fl.solve_dmft(MODEL, TASK, FLOW, save_at=[0.0, 1.0, 2.0], solver=Frozen())
    np.testing.assert_allclose(limit.test_error, [0.4, 0.4, 0.4])
    assert limit.test_error_stderr.max() == 0.0
    assert limit.kernels is None
    assert "Frozen" in limit.provenance["solver"]
    with pytest.raises(fl.FlowlimitError, match="as asked for"):
        fl.solve_dmft(MODEL, TASK, FLOW, solver=Frozen(fails=True))
