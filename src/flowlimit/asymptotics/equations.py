"""Two equations for a fixed point: the noise of its channel, and the strength of its shrinkage.

Nested bisections lead near the solution from anywhere; a trust region method ends it. Derivatives by the problem's
numbers come from the implicit function theorem.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optimistix as optx
from jax import lax
from jaxtyping import Array, Bool

from ..problem.tasks import Regression
from ..types import Scalar

Pair = tuple[Scalar, Scalar]
Errors = Callable[[Regression, Scalar, Scalar, Scalar], Pair]
Bracket = Callable[[Regression, Scalar, Scalar], Pair]
BISECTIONS = 14
LEAST, MOST = 1e-16, 1e3
"""Bounds of the test error, relative to that before training."""
TOLERANCE = 1e-13


def solve_channel(errors: Errors, bracket: Bracket, task: Regression, parameter: Scalar) -> tuple[Pair, Scalar]:
    """Return (log noise, log strength) with delta noise^2 = error + sigma^2 and a strength that balances; a residual.

    ``errors(task, parameter, log_noise, log_strength)`` gives the error E[(w - w*)^2] and the balance, which changes
    its sign once within ``bracket(task, parameter, log_noise)``, bounds of log strength.
    """

    def residuals(unknowns: Pair, given: Any) -> Pair:
        task, parameter = given
        error, balance = errors(task, parameter, *unknowns)
        return jnp.log(error + task.noise_var) - jnp.log(task.aspect_ratio) - 2.0 * unknowns[0], balance

    given = (task, parameter)
    start = lax.stop_gradient(_approach(errors, bracket, task, parameter))
    solver = optx.Dogleg(rtol=TOLERANCE, atol=TOLERANCE)
    found = optx.root_find(residuals, solver, start, given, max_steps=64, throw=False)
    left = jax.tree.map(lax.stop_gradient, residuals(found.value, given))
    return found.value, jnp.maximum(jnp.abs(left[0]), jnp.abs(left[1]))


def _approach(errors: Errors, bracket: Bracket, task: Regression, parameter: Scalar) -> Pair:
    """Bisect for the noise that state evolution keeps, with the strength that balances it, to about a thousandth.

    State evolution raises a noise below its fixed point and lowers one above it, since the problems are convex.
    """

    def balanced(log_noise: Scalar) -> Scalar:
        balance = lambda log_strength: errors(task, parameter, log_noise, log_strength)[1]
        low, high = bracket(task, parameter, log_noise)
        return _bisect(balance, low, high, balance(high) > 0.0)

    def lowered(log_noise: Scalar) -> Scalar:
        error, _ = errors(task, parameter, log_noise, balanced(log_noise))
        return 2.0 * log_noise - jnp.log((error + task.noise_var) / task.aspect_ratio)

    delta, noise_var, rho2 = task.aspect_ratio, task.noise_var, task.target.second_moment
    least = jnp.maximum(noise_var, LEAST * rho2) / delta
    most = (MOST * (rho2 + noise_var) + 10.0 * noise_var / (jnp.abs(1.0 - delta) + LEAST)) / delta
    log_noise = _bisect(lowered, 0.5 * jnp.log(least) - 0.1, 0.5 * jnp.log(most), jnp.array(True))
    return log_noise, balanced(log_noise)


def _bisect(function: Callable[[Scalar], Scalar], low: Scalar, high: Scalar, rising: Bool[Array, ""]) -> Scalar:
    def halve(_: Any, ends: Pair) -> Pair:
        middle = (ends[0] + ends[1]) / 2.0
        above = (function(middle) > 0.0) == rising
        return jnp.where(above, ends[0], middle), jnp.where(above, middle, ends[1])

    low, high = lax.fori_loop(0, BISECTIONS, halve, (low, high))
    return (low + high) / 2.0
