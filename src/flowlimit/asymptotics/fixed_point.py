"""The fixed point of a network's gradient flow: its errors and the law of w(infinity), in the paper's three cases."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..numerics.compiling import compiled
from ..numerics.precision import DoubleModule, own_settings
from ..problem.models import DiagonalLinear, Model
from ..problem.tasks import Regression, Task
from ..results import ClosedForm, FlowlimitError
from ..types import Scalar, is_traced
from .case import Case, check_problem, choose_case, init_scale
from .channel import Channel, make_channel
from .equations import InterpolatorEquations, LassoEquations, solve_equations
from .validity import is_valid, nan_unless

LARGEST_RESIDUAL = 1e-9


class FixedPoint(ClosedForm, DoubleModule):
    """The state of gradient flow at infinite time.

    Attributes
    ----------
    case
        "lasso" (weight decay), "ridgeless" (none, aspect ratio > 1), "interpolating" (none, < 1), or "threshold" (none,
        exactly 1, where noise makes the test error infinite).
    train_error, test_error
        Errors at t = infinity, the paper's C_f and C_w + sigma^2.
    noise_std
        Standard deviation tau of the channel w* -> x = w* + noise of which w(infinity) is a function; tau^2 is
        test_error over aspect_ratio. Of a feature of variance s it is tau/sqrt(s).
    strength
        How much w(infinity) is shrunk: the threshold (1 + chi_w) weight_decay in the first case, R_w in the third; both
        over s for a feature of variance s.
    residual
        What is left of the fixed-point equations, relative.

    Under jit or vmap nothing can be refused: there the numbers are NaN where the equations were not solved, or have no
    answer since a parameter is out of its range.
    """

    WORDS = ("case",)
    NUMBERS = ("train_error", "test_error", "noise_std", "strength", "residual", "chi_w", "R_w", "atom")

    model: DiagonalLinear
    task: Regression
    case: Case = eqx.field(static=True)
    train_error: Scalar
    test_error: Scalar
    noise_std: Scalar
    strength: Scalar
    residual: Scalar

    def __repr__(self) -> str:
        if is_traced(self.test_error) or jnp.ndim(self.test_error):
            return eqx.tree_pformat(self)
        note = "; at aspect ratio 1 noise has no bound" if self.case == "threshold" else ""
        return f"{self.case} fixed point: train error {self.train_error:.6g}, test error {self.test_error:.6g}{note}"

    @property
    def chi_w(self) -> Scalar:
        """Integrated response of w; infinite where training interpolates."""
        if self.case == "lasso":
            return self.strength / self.model.weight_decay - 1.0
        chi = 1.0 / (self.task.aspect_ratio - 1.0) if self.case == "ridgeless" else jnp.inf
        return nan_unless(~jnp.isnan(self.test_error), chi)

    @property
    def R_w(self) -> Scalar:  # noqa: N802
        """Response R_w(infinity): 0 unless training interpolates."""
        return self.strength if self.case == "interpolating" else 0.0 * self.strength

    @property
    def scale(self) -> Scalar:
        """The square of the init scale, on which w is measured."""
        return init_scale(self.model) ** 2

    @property
    def channel(self) -> Channel:
        """The law of x = w* + noise, stratum by stratum."""
        return make_channel(self.task.coordinate_law, self.noise_std)

    @property
    def atom(self) -> Scalar:
        """Probability that w(infinity) is exactly 0."""
        return 1.0 - self.channel.probability @ self._beyond(0.0)

    def density(self, w: Float[Array | np.ndarray, "*points"]) -> Float[Array, "*points"]:
        """Return the density of w(infinity), besides the atom at 0.

        Examples
        --------
        >>> import flowlimit as fl
        >>> task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
        >>> point = fl.fixed_point(fl.DiagonalLinear(0.3), task)
        >>> w = jnp.linspace(-3.0, 3.0, 6001)
        >>> round(float(jnp.sum(point.density(w)) * 0.001), 6)
        1.0
        """
        w = jnp.asarray(w)
        return _density_at(self, w.reshape(-1)).reshape(w.shape)

    def own_numbers(self) -> dict[str, Scalar]:
        """Return all numbers by name, from one program: those that are properties would take a dozen small ones."""
        return _numbers_of(self)

    def true_positive_rate(self, level: Scalar | float = 0.0) -> Scalar:
        """Return the probability that abs(w(infinity)) is above a level, given w* != 0."""
        return self._rate(level, zero=False)

    def false_positive_rate(self, level: Scalar | float = 0.0) -> Scalar:
        """Return the probability that abs(w(infinity)) is above a level, given w* = 0."""
        return self._rate(level, zero=True)

    def _rate(self, level: Scalar | float, *, zero: bool) -> Scalar:
        return self.task.coordinate_law.strata().given(zero=zero) @ self._beyond(level)

    def _beyond(self, level: Scalar | float) -> Float[Array, "strata"]:
        x = self._observed(jnp.asarray(level, dtype=jnp.float64).reshape(1))[0]
        x = jnp.maximum(x, self._strengths) if self.case == "lasso" else x
        return self.channel.above(x) + self.channel.below(-x)

    @property
    def _strengths(self) -> Float[Array, "strata"]:
        """Strengths for w itself, of each stratum."""
        return self.strength / self.task.coordinate_law.variances()

    def _observed(self, w: Float[Array, "points"]) -> Float[Array, "points strata"]:
        """Return the x that leads to w, in each stratum."""
        if self.case == "lasso":
            return w[:, None] + jnp.sign(w)[:, None] * self._strengths[None]
        if self.case == "interpolating":
            return w[:, None] + jnp.arcsinh(w / self.scale)[:, None] * self._strengths[None]
        return jnp.repeat(w[:, None], len(self._strengths), axis=1)


@own_settings()
def fixed_point(model: Model, task: Task, *, case: Case | None = None) -> FixedPoint:
    """Return the fixed point of gradient flow, eq. (fix_case1), (fix_case2) or (fix_case3).

    Parameters
    ----------
    model
        A `DiagonalLinear` network of depth 2.
    task
        Its regression task.
    case
        Needed only where weight decay or aspect ratio are traced (under jit, grad or vmap), since it decides which
        equations are solved.

    Examples
    --------
    >>> import jax
    >>> import flowlimit as fl
    >>> task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    >>> round(float(fl.fixed_point(fl.DiagonalLinear(0.3), task).test_error), 6)
    0.054195
    >>> def error(scale):
    ...     return fl.fixed_point(fl.DiagonalLinear(scale), task, case="interpolating").test_error
    >>> round(float(jax.grad(error)(jnp.array(0.3))), 6)
    0.044824
    """
    network, task = check_problem(model, task)
    point = _solve(network, task, choose_case(network, task, case))
    if not is_traced(point.residual) and not float(point.residual) <= LARGEST_RESIDUAL:
        raise FlowlimitError(
            f"the fixed point's equations were solved to {float(point.residual):.1g} only, needs {LARGEST_RESIDUAL:g}; "
            f"given {model}, {task}"
        )
    return point


@compiled
def _numbers_of(point: FixedPoint) -> dict[str, Scalar]:
    return {name: getattr(point, name) for name in point.NUMBERS}


@compiled
def _density_at(point: FixedPoint, w: Float[Array, "points"]) -> Float[Array, "points"]:
    heights = point.channel.density_at(point._observed(w))
    if point.case == "interpolating":
        root = jnp.sqrt(w**2 + point.scale**2)
        heights = heights * (1.0 + point._strengths[None] / root[:, None])
    return heights.sum(axis=1)


@compiled
def _solve(model: DiagonalLinear, task: Regression, case: Case) -> FixedPoint:
    *numbers, left = _numbers(model, task, case)
    residual = nan_unless(is_valid(model, task, case), left)
    return FixedPoint(model, task, case, *(nan_unless(residual <= LARGEST_RESIDUAL, x) for x in numbers), residual)


def _numbers(model: DiagonalLinear, task: Regression, case: Case) -> tuple[Scalar, Scalar, Scalar, Scalar, Scalar]:
    """Return the training and test error, the noise, the strength and the residual."""
    delta, noise_var, zero = task.aspect_ratio, task.noise_var, jnp.zeros(())
    if case == "threshold":
        test = jnp.where(noise_var > 0.0, jnp.inf, 0.0)
        return zero, test, jnp.sqrt(test), zero, zero
    if case == "ridgeless":
        test = noise_var * delta / (delta - 1.0)
        return noise_var * (delta - 1.0) / delta, test, _root(test / delta), zero, zero
    if case == "lasso":
        equations = LassoEquations(task, model.weight_decay)
    else:
        equations = InterpolatorEquations(task, 2.0 * jnp.log(init_scale(model)))
    (log_noise, log_strength), residual = solve_equations(equations)
    noise, strength = jnp.exp(log_noise), jnp.exp(log_strength)
    test = delta * noise**2
    train = test * (model.weight_decay / strength) ** 2 if case == "lasso" else zero
    return train, test, noise, strength, residual


def _root(x: Scalar) -> Scalar:
    """Return a square root with a finite derivative at 0."""
    return jnp.where(x > 0.0, jnp.sqrt(jnp.where(x > 0.0, x, 1.0)), 0.0)
