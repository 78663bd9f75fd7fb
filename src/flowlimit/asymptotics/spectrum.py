"""Spectrum of the dynamics linearised at its fixed point: every late curve is a sum of exponentials e^(-xt) over it.

Without weight decay u = p + p R_w(p) solves p = u (1 - E[y/(u + y)]/delta), eq. (barRw), y = s sqrt(w^2 + alpha^4).
On the cut p = -x it is complex, and R_w(t) - R_w(infinity) is the integral of e^(-xt) Im u(-x)/(pi x): at large init
scale the Marchenko-Pastur law. The cut begins at x = gamma, where the density rises like a square root. If small and
large weights make it fall into bands, this is the band next to gamma, the only one that late times see.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Complex, Float

from ..numerics.compiling import compiled
from ..numerics.precision import DoubleModule
from ..types import Scalar
from .nodes import LawNodes

FINEST, COUNT, NEWTON_STEPS = 0.05, 400, 6
"""First spacing of sqrt(x - gamma) relative to sqrt(gamma), number of nodes, steps of Newton's method per node."""

PerNode = Float[Array, "nodes"]


class Spectrum(DoubleModule):
    """Exponents x and their weights, the density of R_w(t) - R_w(infinity) times dx."""

    x: PerNode
    weights: PerNode

    def decay(self, times: Float[Array, "times"], multiple: float, power: int = 0) -> Float[Array, "times"]:
        """Return the integral of (x/gamma)^power e^(-multiple x t) over the spectrum."""
        weights = self.weights * (self.x / self.x[0]) ** power
        return jnp.exp(-multiple * times[:, None] * self.x[None, :]) @ weights


@compiled
def make_spectrum(nodes: LawNodes, u: Scalar, gamma: Scalar, aspect_ratio: Scalar) -> Spectrum:
    """Follow u along the cut by Newton's method, from its branch point."""
    y, mass = nodes.speed.ravel(), nodes.weights.ravel()

    def laplace(u: Complex[Array, ""]) -> tuple[Complex[Array, ""], Complex[Array, ""]]:
        """Return p(u) and p'(u)."""
        ratio = y / (u + y)
        return u * (1.0 - mass @ ratio / aspect_ratio), 1.0 - mass @ ratio**2 / aspect_ratio

    # Near the branch point p = -gamma + p''(u) (du)^2/2, so that du = i sqrt(2 (x - gamma)/p'').
    curvature = 2.0 * mass @ (y**2 / (u + y) ** 3) / aspect_ratio
    root, spacing = _graded(gamma, 4.0 * jnp.max(jnp.where(mass > 1e-12, y, 0.0)) * (1.0 + aspect_ratio**-0.5) ** 2)

    def follow(state: Any, s: Scalar) -> Any:
        last, u = state
        grown = u + 1j * (s - last) * jnp.sqrt(2.0 / curvature)
        first = jnp.where(last == 0.0, grown, u)

        def newton(_: Any, u: Complex[Array, ""]) -> Complex[Array, ""]:
            p, slope = laplace(u)
            return u - (p + gamma + s**2) / slope

        u = lax.fori_loop(0, NEWTON_STEPS, newton, first)
        return (s, u), u

    _, path = lax.scan(follow, (jnp.zeros(()), u + 0j), root[1:])
    x = gamma + root**2
    density = jnp.concatenate([jnp.zeros(1), jnp.abs(path.imag)]) / (jnp.pi * x)
    return Spectrum(x, density * 2.0 * root * spacing)


def _graded(gamma: Scalar, widest: Scalar) -> tuple[PerNode, PerNode]:
    """Return nodes of sqrt(x - gamma), even near 0 and geometric beyond sqrt(gamma), with trapezoidal weights."""
    unit = FINEST * jnp.sqrt(gamma) * COUNT / 10.0
    v = jnp.linspace(0.0, 1.0, COUNT) * jnp.arcsinh(jnp.sqrt(widest) / unit)
    edge = np.ones(COUNT)
    edge[-1] = 0.5
    return unit * jnp.sinh(v), unit * jnp.cosh(v) * v[1] * jnp.asarray(edge)
