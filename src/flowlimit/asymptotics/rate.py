"""How fast gradient flow converges: the rightmost singularity of the linearised dynamics, eq. (convergence_rate_eqn).

With y = s sqrt(w(infinity)^2 + alpha^4) for features of variance s, 1 for plain ones, u solves
E[(y/(u + y))^2] = delta and gamma = u^2 E[y/(u + y)^2]/delta: positive
for aspect ratio < 1, and between -min y and 0 for > 1. The singularity is a square-root branch point, so a power
t^(-3/2) stands before the exponential.
"""

import math
from typing import Any, Literal

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..numerics.compiling import compiled
from ..numerics.precision import DoubleModule, own_settings
from ..numerics.roots import monotone_root
from ..problem.models import Model
from ..problem.tasks import Task
from ..results import ClosedForm, FlowlimitError
from ..types import Scalar, is_traced
from .case import Case
from .fixed_point import FixedPoint, fixed_point
from .nodes import LawNodes, law_nodes
from .spectrum import Spectrum, make_spectrum
from .validity import nan_unless

NO_RATE = "aspect_ratio: given 1, that is n = d, needs another: there is no gap, and no exponential rate"
CLOSEST = 1e-15
"""Least distance of u from -min y, relative. A root may be closer, if next to no weights lie near min y."""


class Rate(ClosedForm, DoubleModule):
    """The rate of convergence.

    Attributes
    ----------
    kind
        "exponential" without weight decay; "subexponential" with it: then paths near the threshold converge arbitrarily
        slowly, gamma is 0 and errors fall like t^power.
    gamma
        The paper's gamma: responses fall like e^(-gamma t).
    train_rate, test_rate
        Errors less their limits fall like t^power e^(-rate t): 2 gamma for the training error. The test error has a
        cross term with its limit that falls with gamma alone, unless there is no noise and aspect ratio > 1.
    power
        Power of t before the exponential, -3/2; with weight decay -2.
    u
        The root behind gamma.

    Under jit or vmap, numbers are NaN where the fixed point's are, or where the equation for u has no root.
    """

    INNER = ("point",)
    WORDS = ("kind",)
    NUMBERS = ("gamma", "train_rate", "test_rate", "power", "u")

    kind: Literal["exponential", "subexponential"] = eqx.field(static=True)
    gamma: Scalar
    train_rate: Scalar
    test_rate: Scalar
    power: float = eqx.field(static=True)
    u: Scalar
    point: FixedPoint

    @property
    def spectrum(self) -> Spectrum:
        """The exponents e^(-xt) of late times, x >= gamma; needs kind "exponential"."""
        self._needs("exponential", "weight_decay=0")
        point, nodes = self.point, _nodes(self.point)
        if not is_traced(self.u) and not self._has_branch_point(nodes):
            raise ValueError(
                f"rate: given one of gamma {float(self.gamma):g}, whose slowest weights have a share too small for "
                f"double precision, so that no curve shows their exponents; needs more noise, or none at all"
            )
        return make_spectrum(nodes, self.u, self.gamma, point.task.aspect_ratio)

    def path_density(self, rates: Float[Array, "*points"]) -> Float[Array, "*points"]:
        """Return the density of per-path rates r > 0 with weight decay: a path converges like e^(-rt).

        A path whose s x lies a distance e from the threshold has r = e/(1 + chi_w): paths that converge to 0
        exactly (so r < lambda), others for small r (above it, feedback through R_f matters). It is positive at r = 0,
        which makes the decay of errors a power of t.

        Examples
        --------
        >>> import flowlimit as fl
        >>> task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
        >>> rate = fl.convergence_rate(fl.DiagonalLinear(0.3, weight_decay=0.1), task)
        >>> round(float(rate.path_density(jnp.zeros(()))), 3)
        8.513
        """
        self._needs("subexponential", "weight_decay > 0")
        point = self.point
        rates, spread = jnp.asarray(rates), 1.0 + point.chi_w
        pull = point.channel.pull
        pdf = lambda x: pull.pdf(x) + pull.pdf(-x)
        inside = jnp.where(rates < point.model.weight_decay, pdf(point.strength - spread * rates), 0.0)
        return spread * (pdf(point.strength + spread * rates) + inside)

    def _has_branch_point(self, nodes: LawNodes) -> bool:
        """Whether E[(y/(u + y))^2] = delta at u, where nodes see it."""
        found = nodes.mean((nodes.speed / (self.u + nodes.speed)) ** 2)
        return bool(found > 0.99 * self.point.task.aspect_ratio)

    def _needs(self, kind: str, fix: str) -> None:
        if self.kind != kind:
            raise ValueError(f"rate: given a {self.kind} one, needs {kind}: a model with {fix}")

    def __repr__(self) -> str:
        if is_traced(self.gamma) or jnp.ndim(self.gamma):
            return eqx.tree_pformat(self)
        if self.kind == "subexponential":
            return f"subexponential: errors less their limits fall like t^{self.power:g}"
        train, test = (f"t^{self.power:g} exp(-{float(rate):.6g} t)" for rate in (self.train_rate, self.test_rate))
        return f"gamma {float(self.gamma):.8g}: errors less their limits fall like {train} (train) and {test} (test)"


@own_settings()
def convergence_rate(model: Model, task: Task, *, case: Case | None = None) -> Rate:
    """Return the rate at which gradient flow reaches its fixed point, eq. (convergence_rate_eqn).

    ``case`` is needed only under jit, grad or vmap, see `fixed_point`. Derivatives are total: the law of w(infinity)
    changes with the init scale. (The paper's d gamma/d alpha holds it fixed, which is its part for aspect ratio < 1.)

    Examples
    --------
    >>> import flowlimit as fl
    >>> task = fl.Regression(aspect_ratio=2.0, noise_var=0.01, target=fl.Bernoulli(0.1))
    >>> round(float(fl.convergence_rate(fl.DiagonalLinear(1.0), task).gamma), 6)
    0.088501
    """
    point = fixed_point(model, task, case=case)
    if point.case == "threshold":
        raise ValueError(NO_RATE)
    rate = _rate(point)
    if not is_traced(rate.gamma) and not math.isfinite(rate.gamma):
        raise FlowlimitError(f"the equation behind gamma has no root in its bounds; given {model}, {task}")
    return rate


@compiled
def _rate(point: FixedPoint) -> Rate:
    if point.case == "lasso":
        zero = nan_unless(~jnp.isnan(point.test_error), 0.0)
        return Rate("subexponential", zero, zero, zero, -2.0, zero, point)
    nodes = _nodes(point)
    u, gamma = (_overparametrised if point.case == "interpolating" else _underparametrised)(point, nodes)
    u, gamma = (nan_unless(~jnp.isnan(point.test_error), x) for x in (u, gamma))
    alone = (point.task.noise_var == 0.0) & (point.case == "ridgeless")
    return Rate("exponential", gamma, 2.0 * gamma, jnp.where(alone, 2.0, 1.0) * gamma, -1.5, u, point)


def _nodes(point: FixedPoint) -> LawNodes:
    return law_nodes(point.channel, jnp.log(point.scale), point.R_w)


def _overparametrised(point: FixedPoint, nodes: LawNodes) -> tuple[Scalar, Scalar]:
    """Solve for log u; y >= alpha^2 min s bounds u from below, concavity of y/(u + y) from above."""

    def excess(log_u: Scalar, given: Any) -> Scalar:
        nodes, delta = given
        return jnp.log(nodes.mean((nodes.speed / (jnp.exp(log_u) + nodes.speed)) ** 2)) - jnp.log(delta)

    delta, law = point.task.aspect_ratio, point.task.coordinate_law
    least = jnp.min(jnp.where(law.strata().probability > 0.0, law.variances(), jnp.inf))
    lower = jnp.log(point.scale * least) + jnp.log(jnp.expm1(-0.5 * jnp.log(delta)))
    upper = jnp.log(nodes.mean(nodes.speed)) + jnp.log1p(-delta) - jnp.log(delta)
    u = jnp.exp(monotone_root(excess, lower - 1e-3, upper + 1e-3, (nodes, delta), rising=False))
    return u, u**2 * nodes.mean(nodes.speed / (u + nodes.speed) ** 2) / delta


def _underparametrised(point: FixedPoint, nodes: LawNodes) -> tuple[Scalar, Scalar]:
    """Solve for log(1 + u/min y); y + u is taken without cancellation near w = 0.

    A root closer to -min y than double precision tells is taken there. What is missing from E[(y/(u + y))^2] = delta is
    then due to the weights at min y, and this over min y is missing from E[y/(u + y)^2].
    """
    delta, scale = point.task.aspect_ratio, point.scale
    probability, mean, std = point.task.coordinate_law.strata()
    spread = (std > 0.0) | (point.task.noise_var > 0.0)
    nearest = jnp.where(spread, 0.0, jnp.abs(mean))
    slowest = point.task.coordinate_law.variances() * jnp.sqrt(nearest**2 + scale**2)
    least = jnp.min(jnp.where(probability > 0.0, slowest, jnp.inf))

    def above(log_gap: Scalar, nodes: LawNodes, least: Scalar, scale: Scalar) -> Any:
        own = nodes.variance * (nodes.w**2 / (nodes.root + scale)) - (least - nodes.variance * scale)  # y - min y
        return jnp.maximum(own, 0.0) + least * jnp.exp(log_gap)

    def excess(log_gap: Scalar, given: Any) -> Scalar:
        nodes, delta, *rest = given
        return jnp.log(nodes.mean((nodes.speed / above(log_gap, nodes, *rest)) ** 2)) - jnp.log(delta)

    given = (nodes, delta, least, scale)
    closest = jnp.log(CLOSEST)
    root = monotone_root(excess, closest, jnp.zeros(()), given, rising=False)
    closer = excess(closest, given) < 0.0
    log_gap = jnp.where(closer, closest, root)
    u, y_and_u = least * jnp.expm1(log_gap), above(log_gap, nodes, least, scale)
    missing = jnp.where(closer, delta - nodes.mean((nodes.speed / y_and_u) ** 2), 0.0)
    return u, u**2 * (nodes.mean(nodes.speed / y_and_u**2) + missing / least) / delta
