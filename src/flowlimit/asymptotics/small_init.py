"""From small initialisations the time-averaged weights follow the lasso path, without solving the flow."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..numerics.compiling import compiled
from ..numerics.precision import own_settings
from ..problem.checks import as_float, check_entries
from ..problem.models import DiagonalLinear, Model
from ..problem.tasks import Regression, Task
from ..results import ClosedForm, FlowlimitError
from ..types import Scalar
from .case import check_problem, init_scale
from .fixed_point import LARGEST_RESIDUAL, fixed_point

Times = Float[np.ndarray, "times"]


@dataclass(frozen=True, repr=False, eq=False)
class LassoPath(ClosedForm):
    """Predicted errors of the averaged weights (1/t) int_0^t w(s) ds.

    Attributes
    ----------
    times
        Times t.
    penalty
        lambda + 2 log(1/alpha)/t, of the lasso that the averaged weights are close to.
    train_error, test_error
        That lasso's errors, in the limit.
    """

    ARRAYS: ClassVar = dict.fromkeys(("penalty", "train_error", "test_error"), "time")
    LABELS: ClassVar = {"time": "times"}

    times: Times
    penalty: Times
    train_error: Times
    test_error: Times

    def __repr__(self) -> str:
        ends = [
            f"{float(self.test_error[i]):.6g} at time {float(self.times[i]):.4g}"
            for i in sorted({0, len(self.times) - 1})
        ]
        return f"lasso path at {len(self.times)} times: test error {', '.join(ends)}"


@own_settings()
def small_init_path(model: Model, task: Task, times: float | Sequence[float] | Times) -> LassoPath:
    """Return the errors of the time-averaged weights of a network of small init scale, by lasso fixed points.

    Integrating the flow, theta(t) = -int g is t times the averaged gradient, and w = alpha^2 e^(-lambda t) sinh(theta)
    stays of order 1: so the averaged gradient is at most lambda + 2 log(1/alpha)/t in size, and about that where w is
    not 0. These are the optimality conditions of a lasso (Berthier 2026). The error is of the order of
    1/log(1/alpha); docs/longtime.md has it measured.

    Examples
    --------
    >>> import flowlimit as fl
    >>> task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    >>> path = fl.small_init_path(fl.DiagonalLinear(1e-3), task, np.array([10.0, 100.0]))
    >>> path.penalty.round(3).tolist()
    [1.382, 0.138]
    """
    network, task = check_problem(model, task)
    if float(init_scale(network)) >= 1.0:
        raise ValueError(f"model: given init_scale {float(init_scale(network)):g}, needs one below 1, e.g. 1e-3")
    fix = "needs times above 0, at least one, e.g. times=[10.0, 100.0]"
    wanted = np.atleast_1d(np.asarray(as_float("times", times, fix)))
    if wanted.ndim != 1 or not wanted.size:
        raise ValueError(f"times: given shape {wanted.shape}, {fix}")
    check_entries("times", wanted, fix, above=0.0)
    penalty = float(network.weight_decay) - 2.0 * np.log(float(init_scale(network))) / wanted
    train, test, residual = map(np.asarray, _lassos(network, task, jnp.asarray(penalty)))
    residual = np.where(np.isfinite(train + test), residual, np.nan)
    if not (residual <= LARGEST_RESIDUAL).all():
        worst = int(np.argmax(np.where(np.isnan(residual), np.inf, residual)))
        raise FlowlimitError(
            f"at time {wanted[worst]:g} the lasso of penalty {penalty[worst]:g} was solved to {residual[worst]:.1g} "
            f"only, needs {LARGEST_RESIDUAL:g}; given {model}, {task}"
        )
    return LassoPath(wanted, penalty, train, test)


@compiled
def _lassos(
    model: DiagonalLinear, task: Regression, penalties: Float[Array, "times"]
) -> tuple[Float[Array, "times"], Float[Array, "times"], Float[Array, "times"]]:
    """Return the lassos' training errors, test errors and residuals."""

    def one(penalty: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        point = fixed_point(DiagonalLinear(model.init_scale, weight_decay=penalty), task, case="lasso")
        return point.train_error, point.test_error, point.residual

    return jax.vmap(one)(penalties)
