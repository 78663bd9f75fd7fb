"""The logistic loss, for two classes."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...types import Scalar
from ..checks import optional_number
from .loss import Loss, Moments


class LogisticLoss(Loss):
    """log(1 + e^(-y f)) for labels y = +-1: the sign of f_star, or +1 with probability 1/(1 + e^(-slope f_star)).

    The error that is reported is the 0-1 error.
    """

    slope: Scalar | None = eqx.field(default=None, converter=optional_number("slope", above=0.0, example=2.0))

    @property
    def is_difference(self) -> bool:
        """It is not: the teacher acts through labels."""
        return False

    def residual(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return -y/(1 + e^(y f))."""
        y = self._label(f_star, noise)
        return -y * jax.nn.sigmoid(-y * f)

    def loss(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return the cross-entropy."""
        return jax.nn.softplus(-self._label(f_star, noise) * f)

    def error(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return 1 if the sign of f is wrong, 1/2 at f = 0."""
        return 0.5 * (1.0 - jnp.sign(f) * self._label(f_star, noise))

    def test_error(self, moments: Moments, noise_var: Scalar) -> Scalar:
        """Return arccos(correlation)/pi for a sign teacher; labels flipped near f_star = 0 add one integral."""
        norm = jnp.sqrt(moments.student * moments.teacher)
        correlation = jnp.where(norm > 0.0, moments.overlap / jnp.where(norm > 0.0, norm, 1.0), 0.0)
        correlation = jnp.clip(correlation, -1.0, 1.0)
        of_sign = jnp.where(norm > 0.0, jnp.arccos(correlation) / jnp.pi, 0.5)
        if self.slope is None:
            return of_sign
        x, weights = _half_normal()  # |f_star| in units of its root mean square
        other = jnp.sqrt(jnp.maximum(1.0 - correlation**2, 1e-300))
        right = jax.scipy.special.ndtr(correlation * x / other)  # P(sign of f is that of f_star)
        flipped = jax.nn.sigmoid(-self.slope * jnp.sqrt(moments.teacher) * x)
        return of_sign + weights @ (flipped * (2.0 * right - 1.0))

    def _label(self, f_star: Scalar, noise: Scalar) -> Scalar:
        if self.slope is None:
            return jnp.where(f_star >= 0.0, 1.0, -1.0)
        return jnp.where(jax.scipy.special.ndtr(noise) < jax.nn.sigmoid(self.slope * f_star), 1.0, -1.0)


def _half_normal() -> tuple[Any, Any]:
    """Return nodes and weights for |x| of a standard normal, graded towards 0: steep functions change there."""
    inside, share = np.polynomial.legendre.leggauss(8)
    edges = np.concatenate([[0.0], np.geomspace(1e-6, 10.0, 36)])
    middle, half = (edges[1:] + edges[:-1]) / 2.0, (edges[1:] - edges[:-1]) / 2.0
    x = (middle[:, None] + half[:, None] * inside[None]).ravel()
    weights = (half[:, None] * share[None]).ravel() * np.exp(-0.5 * x**2) * np.sqrt(2.0 / np.pi)
    return jnp.asarray(x), jnp.asarray(weights)
