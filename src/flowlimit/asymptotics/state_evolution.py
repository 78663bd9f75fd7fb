"""State evolution: the two numbers that follow approximate message passing in the limit, step by step."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from ..numerics.compiling import compiled
from ..numerics.precision import DoubleModule, own_settings
from ..problem.checks import integer, number
from ..problem.models import DiagonalLinear, Model
from ..problem.tasks import Regression, Task
from ..results import ClosedForm
from ..types import Scalar, is_traced
from .case import Case, check_problem, choose_case, init_scale
from .channel import make_channel
from .shrinkage import make_shrinkage
from .validity import is_valid, nan_unless

PerStep = Float[Array, "steps"]
MOST_STEPS = 10**5
"""Numbers of every step are kept; it is at its fixed point long before."""
check_steps = integer("num_steps", at_least=1, at_most=MOST_STEPS, example=100)
check_start = number("start", above=0.0)


class StateEvolution(ClosedForm, DoubleModule):
    """What message passing does in the limit, at steps k = 1, 2, ...

    Attributes
    ----------
    noise_std
        sigma_k: w^k is the proximal operator of w* + sigma_k G.
    strength
        t_k of the proximal operator.
    onsager
        b_k, its mean slope over the aspect ratio.
    test_error
        Of w^k.
    """

    WORDS = ("case",)
    ARRAYS: ClassVar = dict.fromkeys(("noise_std", "strength", "onsager", "test_error"), "step")

    case: Case = eqx.field(static=True)
    noise_std: PerStep
    strength: PerStep
    onsager: PerStep
    test_error: PerStep

    def __repr__(self) -> str:
        if is_traced(self.test_error) or jnp.ndim(self.test_error) != 1:
            return eqx.tree_pformat(self)
        first, last = (float(self.test_error[i]) for i in (0, -1))
        steps = len(self.test_error)
        return (
            f"{self.case} state evolution, {steps} steps: test error {first:.6g} at the first, {last:.6g} at the last"
        )


@own_settings()
def state_evolution(
    model: Model,
    task: Task,
    *,
    num_steps: int = 100,
    start: float | Scalar | None = None,
    case: Case | None = None,
) -> StateEvolution:
    """Iterate state evolution of the paper's message passing, eq. (fix_se).

    It converges to the fixed point of gradient flow: noise_std and strength to those of `fixed_point`, onsager to
    chi_w/(1 + chi_w), eq. (map_se_dmft); geometrically, the slower the nearer the problem is to a phase transition.

    Parameters
    ----------
    model, task
        As for `fixed_point`.
    num_steps
        Number of steps.
    start
        First strength t_1; twice the weight decay unless given, or sigma_1 where there is none.
    case
        As for `fixed_point`.

    Examples
    --------
    >>> import flowlimit as fl
    >>> problem = fl.DiagonalLinear(0.3, weight_decay=0.1), fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    >>> evolution = fl.state_evolution(*problem)
    >>> bool(jnp.isclose(evolution.test_error[-1], fl.fixed_point(*problem).test_error, rtol=1e-10))
    True
    """
    network, task = check_problem(model, task)
    num_steps = check_steps(num_steps)
    case = choose_case(network, task, case)
    first = first_strength(network, task, case) if start is None else check_start(start)
    return _evolve(network, task, first, num_steps, case)


def first_strength(model: DiagonalLinear, task: Regression, case: Case) -> Scalar:
    """Return t_1: lambda (1 + b_0) with b_0 = 1, or the size of the first noise without weight decay."""
    noise = jnp.sqrt((task.noise_var + task.coordinate_law.signal) / task.aspect_ratio)
    return 2.0 * model.weight_decay if case == "lasso" else noise


@compiled
def _evolve(model: DiagonalLinear, task: Regression, first: Scalar, num_steps: int, case: Case) -> StateEvolution:
    shrinkage, delta = make_shrinkage(case, 2.0 * jnp.log(init_scale(model))), task.aspect_ratio

    def step(state: Any, _: Any) -> Any:
        noise_var, strength = state
        noise_std = jnp.sqrt(noise_var)
        moments = shrinkage.moments(make_channel(task.coordinate_law, noise_std), strength)
        onsager, test = moments.slope / delta, moments.error + task.noise_var
        return (test / delta, model.weight_decay + onsager * strength), (noise_std, strength, onsager, test)

    begin = (task.noise_var + task.coordinate_law.signal) / delta, first
    _, steps = lax.scan(step, begin, length=num_steps)
    good = is_valid(model, task, case) & jnp.isfinite(first) & (first >= 0.0)
    return StateEvolution(case, *(nan_unless(good, x) for x in steps))
