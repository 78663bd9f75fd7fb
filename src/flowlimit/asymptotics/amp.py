"""Approximate message passing on a data set, with the proximal operators of the paper's three cases."""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from ..numerics.compiling import compiled
from ..numerics.precision import own_settings
from ..problem.models import Model
from ..problem.tasks import Dataset
from ..results import ClosedForm, Code, Outcome
from ..types import Coordinates, Samples, Scalar
from .minimizer.data import DataProblem, data_problem
from .shrinkage import make_shrinkage
from .state_evolution import check_start, check_steps

CONVERGED = 1e-10
PerStep = Float[np.ndarray, "steps"]


@dataclass(frozen=True, repr=False, eq=False)
class MessagePassing(ClosedForm):
    """Iterates of message passing on one data set; arrays over steps k = 1, 2, ...

    Attributes
    ----------
    w
        The last iterate.
    noise_std
        Estimate of state evolution's sigma_k from the residual that made w^k.
    strength, onsager
        t_k and b_k as used, b_k from the data.
    train_error, test_error
        Of w^k; the test error is NaN without ``w_star`` and ``noise_var``.
    change
        Norm of w^k - w^(k-1) over that of w^k; of sqrt(variances) w^k where the data know variances.
    result
        Outcome: diverged, tolerance (not converged in the steps given), or successful.
    """

    WORDS = ("result",)
    ARRAYS: ClassVar = {
        **dict.fromkeys(("noise_std", "strength", "onsager", "train_error", "test_error", "change"), "step"),
        "w": "coordinate",
    }

    w: Coordinates
    noise_std: PerStep
    strength: PerStep
    onsager: PerStep
    train_error: PerStep
    test_error: PerStep
    change: PerStep
    result: Outcome

    def __repr__(self) -> str:
        note = f"; {self.result.message}" if self.result.message else ""
        return (
            f"message passing, {len(self.change)} steps: train error {self.train_error[-1]:.6g}, "
            f"test error {self.test_error[-1]:.6g}, last change {self.change[-1]:.1g}{note}"
        )


@own_settings()
def amp(
    model: Model, dataset: Dataset, *, num_steps: int = 100, start: float | None = None, throw: bool = True
) -> MessagePassing:
    """Run approximate message passing, eq. (amp), towards the fixed point of gradient flow of a depth-2 network.

    The penalty is the model's: l1 with weight decay, J_alpha without it and with fewer samples than dimensions, none
    otherwise. Slopes come from the data, so that no law of the target is needed.
    It converges fast for matrices with independent entries of variance 1/dim, or ``variances/dim`` where the data know
    them, and may diverge for others: then use `minimizer`, which has no such condition.

    Parameters
    ----------
    model
        A `DiagonalLinear` network of depth 2.
    dataset
        Data.
    num_steps
        Number of steps.
    start
        First strength t_1, as for `state_evolution`; there the default comes from the task, here from the labels.
    throw
        Raise if the iterates diverge.

    Examples
    --------
    >>> import numpy as np, flowlimit as fl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 400)) / 20.0
    >>> w_star = (rng.random(400) < 0.1) * 1.0
    >>> data = fl.Dataset(X, X @ w_star, w_star=w_star, noise_var=0.0)
    >>> model = fl.DiagonalLinear(0.3, weight_decay=0.1)
    >>> found, exact = fl.amp(model, data), fl.minimizer(model, data)
    >>> bool(np.allclose(found.w, exact.w, atol=1e-6))
    True
    """
    problem = data_problem(model, dataset)
    num_steps = check_steps(num_steps)
    first = _first(problem) if start is None else check_start(start)
    w, arrays = _iterate(problem, first, num_steps)
    noise_std, strength, onsager, train, gap, change = map(np.asarray, arrays)
    known = dataset.w_star is not None and dataset.noise_var is not None
    test = gap + float(dataset.noise_var) if known else np.full(num_steps, np.nan)  # pyright: ignore[reportArgumentType]
    result = _outcome(change, np.asarray(train))
    if throw:
        result.raise_if_failed()
    return MessagePassing(w, noise_std, strength, onsager, train, test, change, result)


def _first(problem: DataProblem) -> Scalar:
    if problem.case == "lasso":
        return 2.0 * problem.weight_decay
    return jnp.sqrt(jnp.mean(problem.data.y**2) / problem.data.aspect_ratio)


def _outcome(change: PerStep, train: PerStep) -> Outcome:
    finite = np.isfinite(train)
    if not finite.all() or train[-1] > 1e3 * train[0]:
        step = int(np.argmin(finite)) if not finite.all() else len(train)
        return Outcome(
            Code.DIVERGED,
            f"message passing diverged by step {step}: it needs a matrix with independent entries of variance 1/dim; "
            f"use fl.minimizer(model, dataset)",
        )
    if change[-1] > CONVERGED:
        message = f"the last step changed w by {change[-1]:.1g}, needs {CONVERGED:g}; raise num_steps={len(change)}"
        return Outcome(Code.TOLERANCE, message)
    return Outcome()


@compiled
def _iterate(problem: DataProblem, first: Scalar, num_steps: int) -> tuple[Coordinates, tuple[Array, ...]]:
    # In w^ = sqrt(s) w features have equal variances, and w is shrunk by the strength over s.
    data, delta, y = problem.data, problem.data.aspect_ratio, problem.data.y
    s = jnp.ones(data.X.shape[1]) if data.variances is None else data.variances
    root = jnp.sqrt(s)
    X = data.X / root[None]
    shrinkage = make_shrinkage(problem.case, problem.log_scale)
    w_star = jnp.zeros_like(s) if data.w_star is None else root * data.w_star

    def step(state: tuple[Coordinates, Samples, Scalar], _: None) -> tuple[tuple, tuple]:
        w, residual, strength = state
        x = w + X.T @ residual / delta
        onsager = jnp.mean(shrinkage.slope(x / root, strength / s)) / delta
        new = root * shrinkage.shrink(x / root, strength / s)
        left = y - X @ new
        noise_std = jnp.sqrt(jnp.mean(residual**2) / delta)
        change = jnp.linalg.norm(new - w) / jnp.maximum(jnp.linalg.norm(new), jnp.finfo(new.dtype).tiny)
        seen = (noise_std, strength, onsager, jnp.mean(left**2), jnp.mean((new - w_star) ** 2), change)
        return (new, left + onsager * residual, problem.weight_decay + onsager * strength), seen

    (w, _, _), arrays = lax.scan(step, (jnp.zeros(X.shape[1]), y, first), length=num_steps)
    return w / root, arrays
