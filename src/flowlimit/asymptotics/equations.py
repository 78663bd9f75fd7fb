"""Two equations for a fixed point: the noise of its channel, and the strength of its shrinkage.

Nested bisections lead near the solution from anywhere; Newton's method ends it. Derivatives by the problem's
numbers come from the implicit function theorem.
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from ..numerics.compiling import compiled
from ..numerics.roots import near_root, newton_root
from ..problem.tasks import Regression
from ..types import Scalar
from .channel import make_channel
from .shrinkage import MirrorThreshold, Shrinkage, ShrunkMoments, SoftThreshold

Pair = tuple[Scalar, Scalar]
HALVINGS = 10
"""Of the bounds, before Newton's method."""
LEAST, MOST = 1e-16, 1e3
"""Bounds of the test error, relative to that before training."""
TOLERANCE, NEWTON_STEPS = 1e-13, 64
"""Change of the unknowns, both logarithms of order 1, at which Newton's method ends: a few hundred roundings; and the
most steps of it, of which five to ten are usual from a hundredth away."""


class Equations(eqx.Module):
    """What a strength has to balance, given the noise."""

    task: Regression
    parameter: Scalar

    @property
    @abc.abstractmethod
    def shrinkage(self) -> Shrinkage:
        """How w follows from its channel."""

    @abc.abstractmethod
    def balance(self, strength: Scalar, moments: ShrunkMoments) -> Scalar:
        """Return a function of the strength that rises through 0 at the fixed point."""

    @abc.abstractmethod
    def bracket(self, log_noise: Scalar) -> Pair:
        """Return bounds of the log strength."""

    def evaluate(self, log_noise: Scalar, log_strength: Scalar, *, rough: bool = False) -> Pair:
        """Return E[s (w - w*)^2] and the balance."""
        return _evaluate(self, log_noise, log_strength, rough)

    def raised(self, log_noise: Scalar, error: Scalar) -> Scalar:
        """Return log((error + sigma^2)/delta) - log noise^2, what state evolution would add."""
        return jnp.log(error + self.task.noise_var) - jnp.log(self.task.aspect_ratio) - 2.0 * log_noise


@compiled  # a program of its own within others: traced once or twice, not at each of its seven places
def _evaluate(equations: Equations, log_noise: Scalar, log_strength: Scalar, rough: bool) -> Pair:
    strength = jnp.exp(log_strength)
    channel = make_channel(equations.task.coordinate_law, jnp.exp(log_noise))
    moments = equations.shrinkage.moments(channel, strength, rough=rough)
    return moments.error, equations.balance(strength, moments)


class LassoEquations(Equations):
    """Case (i), eq. (fix_case1): strength = (1 + chi_w) lambda, parameter = lambda."""

    @property
    def shrinkage(self) -> Shrinkage:
        """Soft thresholds."""
        return SoftThreshold()

    def balance(self, strength: Scalar, moments: ShrunkMoments) -> Scalar:
        """Return 1 - P(w != 0)/delta - lambda/strength."""
        return 1.0 - moments.slope / self.task.aspect_ratio - self.parameter / strength

    def bracket(self, log_noise: Scalar) -> Pair:
        """Return lambda as the lower bound; above, Chebyshev's inequality makes at most delta/2 active."""
        second = _pull_square(self.task, log_noise)
        above = jnp.maximum(2.0 * self.parameter, jnp.sqrt(2.0 * second / self.task.aspect_ratio))
        return jnp.log(self.parameter), jnp.log(above) + 1e-3


class InterpolatorEquations(Equations):
    """Case (iii), eq. (fix_case3): strength = R_w, parameter = log alpha^2."""

    @property
    def shrinkage(self) -> Shrinkage:
        """The proximal operator of J_alpha."""
        return MirrorThreshold(self.parameter)

    def balance(self, strength: Scalar, moments: ShrunkMoments) -> Scalar:
        """Return log E[R_w/(R_w + root)] - log(1 - delta)."""
        return jnp.log(moments.deficit) - jnp.log1p(-self.task.aspect_ratio)

    def bracket(self, log_noise: Scalar) -> Pair:
        """Return bounds of log R_w.

        y = s sqrt(w^2 + alpha^4) is at least alpha^2 min s, and y/(y + R) is concave in it: so R delta/(1 - delta)
        lies between alpha^2 min s and E[y] <= alpha^2 E[s] + E[s |x|].
        """
        size = jnp.sqrt(_pull_square(self.task, log_noise))
        odds = jnp.log1p(-self.task.aspect_ratio) - jnp.log(self.task.aspect_ratio)
        law = self.task.coordinate_law
        p, s = law.strata().probability, law.variances()
        least, mean = jnp.log(jnp.min(jnp.where(p > 0.0, s, jnp.inf))), jnp.log(p @ s)
        above = jnp.logaddexp(self.parameter + mean, jnp.log(size))
        return self.parameter + least + odds - 1e-3, above + odds + 1e-3


def _pull_square(task: Regression, log_noise: Scalar) -> Scalar:
    """Return E[(s x)^2]."""
    (p, mean, std), s = task.coordinate_law.strata(), task.coordinate_law.variances()
    return p @ (s**2 * (mean**2 + std**2) + s * jnp.exp(2.0 * log_noise))


def solve_equations(equations: Equations) -> tuple[Pair, Scalar]:
    """Return (log noise, log strength) with delta noise^2 = error + sigma^2 and a balancing strength; a residual."""

    def residuals(unknowns: Float[Array, "2"]) -> Float[Array, "2"]:
        error, balance = equations.evaluate(*unknowns)
        return jnp.stack([equations.raised(unknowns[0], error), balance])

    start = jnp.stack(_approach(jax.tree.map(lax.stop_gradient, equations)))
    found = newton_root(residuals, start, tolerance=TOLERANCE, max_steps=NEWTON_STEPS)
    left = jnp.max(jnp.abs(lax.stop_gradient(residuals(found))))
    return (found[0], found[1]), left


def _approach(equations: Equations) -> Pair:
    """Bisect for the noise that state evolution keeps, with the strength that balances it, to about a hundredth.

    State evolution raises a noise below its fixed point and lowers one above it, since the problems are convex.
    """

    def balanced(log_noise: Scalar) -> Scalar:
        balance = lambda log_strength: (equations.evaluate(log_noise, log_strength, rough=True)[1], None)
        return near_root(balance, *equations.bracket(log_noise), halvings=HALVINGS)[0]

    def lowered(log_noise: Scalar) -> Pair:
        log_strength = balanced(log_noise)
        error = equations.evaluate(log_noise, log_strength, rough=True)[0]
        return -equations.raised(log_noise, error), log_strength

    task = equations.task
    delta, noise_var, rho2 = task.aspect_ratio, task.noise_var, task.coordinate_law.signal
    least = jnp.maximum(noise_var, LEAST * rho2) / delta
    most = (MOST * (rho2 + noise_var) + 10.0 * noise_var / (jnp.abs(1.0 - delta) + LEAST)) / delta
    bounds = 0.5 * jnp.log(least) - 0.1, 0.5 * jnp.log(most)
    # Rough moments may miss a root next to a bound: Newton's residual judges the answer.
    return near_root(lowered, *bounds, halvings=HALVINGS, found=jnp.zeros(()))
