"""Which case of the paper, of three, a problem is, and refusals of what lies outside them."""

from typing import Literal, get_args

import jax
import numpy as np
from jaxtyping import Float

from ..problem.checks import shown
from ..problem.limits import refuse_without_limit
from ..problem.models import DiagonalLinear, Model
from ..problem.tasks import Regression, Task
from ..types import Scalar, is_traced

Case = Literal["lasso", "ridgeless", "interpolating", "threshold"]
CASES: tuple[Case, ...] = get_args(Case)


def check_model(model: Model) -> DiagonalLinear:
    """Return the depth-2 network that has the model's flow, or refuse the model."""
    network = model.diagonal_form() if isinstance(model, Model) else None
    if network is None:
        raise TypeError(
            f"model: given {shown(model)}, needs fl.DiagonalLinear of depth 2 without truncation, or a model with the "
            f"same flow whose diagonal_form() returns it"
        )
    return network


def check_problem(model: Model, task: Task) -> tuple[DiagonalLinear, Regression]:
    """Return the depth-2 network that has the model's flow, with one init scale, and the task as a regression."""
    network = check_model(model)
    init_scale(network)
    regression = task.regression_form() if isinstance(task, Task) else None
    if regression is None:
        raise TypeError(f"task: given {shown(task)}, needs a task with the squared loss, e.g. fl.Regression")
    refuse_without_limit(regression)
    return network, regression


def init_scale(model: DiagonalLinear) -> Scalar:
    """Return a network's init scale, if it is one number."""
    if not isinstance(model.init_scale, jax.Array) or model.init_scale.ndim:
        raise TypeError("model: given an init_scale for every coordinate, needs one number")
    return model.init_scale


def choose_case(model: DiagonalLinear, task: Regression, case: Case | None = None) -> Case:
    """Return the case of a problem; the one given if the problem's numbers are traced."""
    if case is not None and case not in CASES:
        raise ValueError(f"case: given {shown(case)}, needs one of {', '.join(CASES)}")
    if is_traced(model.weight_decay) or is_traced(task.aspect_ratio):
        if case is None:
            needs = " or ".join(f"case={name!r}" for name in CASES)
            raise ValueError(f"case: given none, but weight_decay or aspect_ratio is traced; needs {needs}")
        return case
    own = _own_case(model, task)
    if case not in (None, own):
        raise ValueError(f"case: given {shown(case)}, but this problem is {own!r}")
    return own


def _own_case(model: DiagonalLinear, task: Regression) -> Case:
    return cases_of(np.atleast_1d(model.weight_decay), np.atleast_1d(task.aspect_ratio))[0]


def cases_of(weight_decay: Float[np.ndarray, "points"], aspect_ratio: Float[np.ndarray, "points"]) -> list[Case]:
    """Return the case of each of many problems."""
    conditions = [weight_decay > 0.0, aspect_ratio == 1.0, aspect_ratio > 1.0]
    return np.select(conditions, ["lasso", "threshold", "ridgeless"], "interpolating").tolist()
