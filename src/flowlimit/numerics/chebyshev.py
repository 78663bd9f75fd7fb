"""Runge-Kutta-Chebyshev: an explicit solver of order 2 for stiff flows with a real, negative spectrum.

Gradient flows have such spectra, and s stages of this method are stable up to h rho = 0.65 s^2 where an ordinary
explicit method manages about 0.5 s: a horizon that costs K matrix products by an ordinary method costs about sqrt(K)
here, with no matrix factorised. Formulas: Sommeijer, Shampine and Verwer, "RKC: an explicit solver for parabolic PDEs",
J. Comput. Appl. Math. 88 (1998), equations (2.2) to (2.8).
"""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import diffrax
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..types import Scalar

DAMPING = 2.0 / 13.0
State = Float[Array, "..."]


class Stage(NamedTuple):
    """Two stages of the recursion (times, values) and the Chebyshev polynomials T_j(w0), T'_j, T''_j behind them."""

    y: tuple[State, State]
    c: tuple[Scalar, Scalar]
    b: tuple[Scalar, Scalar]
    chebyshev: tuple[Float[Array, "3"], Float[Array, "3"]]


class RungeKuttaChebyshev(diffrax.AbstractAdaptiveSolver):
    """Second-order stabilised solver for diffrax.

    Parameters
    ----------
    spectral_radius
        ``(t, y, args) -> rho``, a bound on the modulus of the Jacobian's eigenvalues.

    Examples
    --------
    >>> solver = RungeKuttaChebyshev(lambda t, y, args: jnp.array(1e4))
    >>> decay = diffrax.ODETerm(lambda t, y, args: -1e4 * (y - jnp.cos(t)))
    >>> control = diffrax.PIDController(rtol=1e-6, atol=1e-6)
    >>> solution = diffrax.diffeqsolve(decay, solver, 0.0, 3.0, None, jnp.zeros(()), stepsize_controller=control)
    >>> bool(abs(solution.ys[0] - jnp.cos(3.0)) < 1e-4), bool(solution.stats["num_steps"] < 500)
    (True, True)
    """

    spectral_radius: Callable[..., Scalar]

    term_structure: ClassVar = diffrax.AbstractTerm
    interpolation_cls: ClassVar = diffrax.ThirdOrderHermitePolynomialInterpolation

    def order(self, terms: Any) -> int:
        """Order of convergence."""
        return 2

    def error_order(self, terms: Any) -> float:
        """Power of the step in the local error estimate."""
        return 3.0

    def init(self, terms: Any, t0: Any, t1: Any, y0: State, args: Any) -> State:
        """Start with the vector field, which each step hands to the next."""
        return terms.vf(t0, y0, args)

    def func(self, terms: Any, t0: Any, y0: State, args: Any) -> State:
        """Vector field."""
        return terms.vf(t0, y0, args)

    def step(self, terms: Any, t0: Any, t1: Any, y0: State, args: Any, solver_state: State, made_jump: Any) -> tuple:
        """One step of as many stages as stability needs."""
        h, f0 = t1 - t0, solver_state
        radius = jnp.abs(h) * self.spectral_radius(t0, y0, args)
        # A step far beyond any use (a rejected trial, a NaN) must not turn into an endless loop of stages.
        stages = jnp.clip(1.0 + jnp.floor(jnp.sqrt(1.0 + 1.54 * jnp.nan_to_num(radius))), 2.0, 1e4).astype(int)
        y1 = _stages(terms, t0, h, y0, f0, args, stages)
        f1 = terms.vf(t1, y1, args)
        error = 0.8 * (y0 - y1) + 0.4 * h * (f0 + f1)  # (2.8)
        dense = {"y0": y0, "y1": y1, "k0": h * f0, "k1": h * f1}
        return y1, error, dense, f1, diffrax.RESULTS.successful


def _stages(terms: Any, t0: Scalar, h: Scalar, y0: State, f0: State, args: Any, stages: Int[Array, ""]) -> State:
    s = stages.astype(float)
    w0 = 1.0 + DAMPING / s**2
    root = jnp.sqrt(w0**2 - 1.0)
    angle = s * jnp.log(w0 + root)
    # w1 = T'_s(w0)/T''_s(w0), with T_s(cosh x) = cosh(s x).
    w1 = jnp.sinh(angle) * root**2 / (jnp.cosh(angle) * s * root - w0 * jnp.sinh(angle))
    b = 1.0 / (4.0 * w0**2)  # b_0 = b_1 = b_2
    first = b * w1
    start = Stage(
        y=(y0, y0 + first * h * f0),
        c=(jnp.zeros_like(h), first),
        b=(b, b),
        chebyshev=(jnp.stack([jnp.ones_like(w0), jnp.zeros_like(w0), jnp.zeros_like(w0)]), _linear(w0)),
    )

    def advance(_: Int[Array, ""], stage: Stage) -> Stage:
        (y_old, y), (c_old, c), (b_old, b), (p_old, p) = stage
        new = jnp.stack(  # T_j = 2 w0 T_{j-1} - T_{j-2} and its first two derivatives
            [
                2.0 * w0 * p[0] - p_old[0],
                2.0 * w0 * p[1] + 2.0 * p[0] - p_old[1],
                2.0 * w0 * p[2] + 4.0 * p[1] - p_old[2],
            ]
        )
        b_new = new[2] / new[1] ** 2
        mu, nu, mu_tilde = 2.0 * b_new * w0 / b, -b_new / b_old, 2.0 * b_new * w1 / b
        gamma_tilde = -(1.0 - b * p[0]) * mu_tilde
        f = terms.vf(t0 + c * h, y, args)
        y_new = (1.0 - mu - nu) * y0 + mu * y + nu * y_old + mu_tilde * h * f + gamma_tilde * h * f0  # (2.4)
        c_new = mu * c + nu * c_old + mu_tilde + gamma_tilde
        return Stage((y, y_new), (c, c_new), (b, b_new), (p, new))

    return jax.lax.fori_loop(2, stages + 1, advance, start).y[1]


def _linear(w0: Scalar) -> Float[Array, "3"]:
    return jnp.stack([w0, jnp.ones_like(w0), jnp.zeros_like(w0)])
