"""What works with what, found by asking: every verb is given small problems up to where it would refuse them."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..asymptotics.case import check_problem
from ..asymptotics.minimizer.data import data_problem
from ..dmft import AbstractSolver, SolverAnswer, SolverRequest
from ..numerics.precision import own_settings
from ..problem.designs import BinaryDesign, MatrixDesign
from ..problem.features import Features
from ..problem.laws import Empirical, Normal
from ..problem.losses import HuberLoss
from ..problem.models import DiagonalLinear, Linear, Reparametrized
from ..problem.tasks import Classification, Dataset, GeneralizedLinear, Regression
from ..problem.trainings import GradientDescent, GradientFlow, Langevin, StochasticGradientDescent
from ..results import Code, Outcome
from ..simulation import make_plan
from .estimating import check_request
from .solve import solve_dmft

SIZE, STEPS = (10, 20), {"num_steps": 3}
MATRIX = np.eye(*SIZE)
FEATURES = Features(variance=Empirical([1.0, 0.1]), target=Normal())


class Row(NamedTuple):
    """Whether verbs take a model with a task, each in words."""

    model: str
    task: str
    verbs: dict[str, str]


class _Asked(AbstractSolver):
    """A solver that is asked and does nothing: what reaches it was not refused."""

    def solve(self, request: SolverRequest) -> SolverAnswer:
        """Stop."""
        return SolverAnswer(outcome=Outcome(Code.STOPPED, "asked only"))


def _models() -> dict[str, Any]:
    return {
        "DiagonalLinear, depth 2": DiagonalLinear(0.3),
        "DiagonalLinear, a law of init scales": DiagonalLinear(Empirical([0.2, 0.4])),
        "DiagonalLinear, deeper or truncated": DiagonalLinear(0.8, depth=3),
        "Linear": Linear(),
        "Reparametrized, a model of your own": Reparametrized(lambda theta: theta[0] * theta[1], init=[0.3, 0.3]),
    }


def _tasks() -> dict[str, Any]:
    return {
        "Regression": Regression(0.5, noise_var=0.1, target=Normal()),
        "Regression, BinaryDesign": Regression(0.5, noise_var=0.1, target=Normal(), design=BinaryDesign()),
        "Regression, MatrixDesign": Regression(0.5, noise_var=0.1, target=Normal(), design=MatrixDesign(MATRIX)),
        "Regression, features of unequal variances": Regression(0.5, noise_var=0.1, features=FEATURES),
        "Classification": Classification(0.5, target=Normal()),
        "GeneralizedLinear, HuberLoss": GeneralizedLinear(0.5, target=Normal(), loss=HuberLoss(1.0)),
        "Dataset": Dataset(MATRIX, np.ones(SIZE[0])),
    }


def _trainings() -> dict[str, Any]:
    return {
        "flow": GradientFlow(1.0),
        "descent": GradientDescent(0.1, **STEPS),
        "momentum": GradientDescent(0.1, momentum=0.5, **STEPS),
        "batches": StochasticGradientDescent(0.5, step_size=0.1, **STEPS),
        "Langevin": Langevin(0.1, step_size=0.1, **STEPS),
    }


def _simulate(model: Any, task: Any, training: Any) -> None:
    options = dict.fromkeys(("trials", "save_at", "weights_at", "observables", "solver", "devices"))
    make_plan([model], task, training, dim=SIZE[1], key=0, rtol=1e-6, **options)


IN_TIME: dict[str, Callable[[Any, Any, Any], Any]] = {
    "solve_dmft, derivative": lambda *problem: solve_dmft(*problem, solver=_Asked(), throw=False),
    "simulate": _simulate,
    "estimate_test_error, select": lambda model, *rest: check_request([model], *rest),
}
"""Verbs that read a training."""
CLOSED: dict[str, Callable[[Any, Any], Any]] = {
    "fixed_point, convergence_rate, timescales, state_evolution": check_problem,
    "minimizer, amp": data_problem,
}
"""Verbs about gradient flow that take no training."""


@cache
@own_settings()
def matrix() -> tuple[Row, ...]:
    """Return what every verb says to every model with every task.

    Verbs with a training say "yes", "no" or which trainings they take.
    """
    return tuple(
        Row(model, task, dict(_answers(_models()[model], _tasks()[task]))) for model in _models() for task in _tasks()
    )


def _answers(model: Any, task: Any) -> Iterator[tuple[str, str]]:
    trainings = _trainings()
    for name, verb in IN_TIME.items():
        taken = [kind for kind, training in trainings.items() if _takes(verb, model, task, training)]
        yield name, "yes" if len(taken) == len(trainings) else ", ".join(taken) or "no"
    for name, verb in CLOSED.items():
        yield name, "yes" if _takes(verb, model, task) else "no"


def _takes(verb: Callable[..., Any], *problem: Any) -> bool:
    try:
        verb(*problem)
    except (TypeError, ValueError):  # how every verb refuses
        return False
    return True
