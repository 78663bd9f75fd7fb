"""`fl.minimizer`: the fixed point of gradient flow of a depth-2 network on one data set."""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ...numerics.precision import own_settings
from ...problem.losses import moments_of
from ...problem.models import Model
from ...problem.tasks import Dataset
from ...results import ClosedForm, FlowlimitError
from ..case import Case
from .data import DataProblem, data_problem
from .dual_newton import dual_newton
from .lasso import lasso
from .least_squares import least_squares

LARGEST_RESIDUAL = 1e-9


@dataclass(frozen=True, repr=False, eq=False)
class Minimizer(ClosedForm):
    """The fixed point of gradient flow on one data set.

    Attributes
    ----------
    case
        "lasso", "ridgeless" or "interpolating", as for `fixed_point`.
    w
        The weights.
    train_error, test_error
        Their errors; the test error is NaN without ``w_star`` and ``noise_var``.
    residual
        How far from the minimum: the relative duality gap (lasso), gradient (ridgeless) or violation of X w = y.
    iterations
        Steps of the algorithm.
    """

    WORDS = ("case",)
    NUMBERS = ("train_error", "test_error", "residual", "iterations")
    ARRAYS: ClassVar = {"w": "coordinate"}

    case: Case
    w: Float[np.ndarray, "dim"]
    train_error: float
    test_error: float
    residual: float
    iterations: int

    def __repr__(self) -> str:
        return (
            f"{self.case} minimizer: train error {self.train_error:.6g}, test error {self.test_error:.6g}, "
            f"residual {self.residual:.1g} after {self.iterations} steps"
        )


@own_settings()
def minimizer(model: Model, dataset: Dataset) -> Minimizer:
    """Return the fixed point of gradient flow, eq. (min_problem), by convex minimisation, not by integration.

    With weight decay: the lasso, ``(1/(2n)) |y - X w|^2 + (lambda/d) |w|_1``. Without it: least squares if there are as
    many samples as dimensions, else the interpolator of least sum of J(w_i), with
    ``J(w) = w asinh(w/alpha^2) - sqrt(w^2 + alpha^4)``. The high-dimensional limit of its errors is `fixed_point`.

    Parameters
    ----------
    model
        A `DiagonalLinear` network of depth 2; its init scale may be an array over coordinates.
    dataset
        Data.

    Examples
    --------
    >>> import flowlimit as fl
    >>> data = fl.Dataset([[1.0, 0.5]], [1.0])
    >>> found = fl.minimizer(fl.DiagonalLinear(1e-3), data)  # small initialisations: almost the least l1 norm
    >>> [round(float(w), 3) for w in found.w]
    [1.0, 0.001]
    """
    problem = data_problem(model, dataset)
    w, residual, iterations = _minimise(problem)
    if not residual <= LARGEST_RESIDUAL:
        raise FlowlimitError(
            f"{problem.case} minimiser: after {iterations} steps the residual is {residual:.1g}, needs "
            f"{LARGEST_RESIDUAL:g}; rows or columns of X may be nearly dependent: drop some, or raise weight_decay"
        )
    train = float(jnp.mean((dataset.y - dataset.X @ w) ** 2))
    test = np.nan
    if dataset.w_star is not None and dataset.noise_var is not None:
        root = 1.0 if dataset.variances is None else jnp.sqrt(dataset.variances)
        moments = moments_of(jnp.asarray(w) * root, dataset.w_star * root)
        test = float(dataset.loss.test_error(moments, dataset.noise_var))
    return Minimizer(problem.case, w, train, test, residual, iterations)


def _minimise(problem: DataProblem) -> tuple[np.ndarray, float, int]:
    X, y = problem.data.X, problem.data.y
    if problem.case == "lasso":
        return lasso(X, y, float(problem.weight_decay))
    if problem.case == "ridgeless":
        return least_squares(np.asarray(X), np.asarray(y))
    return dual_newton(X, y, problem.log_scale)
