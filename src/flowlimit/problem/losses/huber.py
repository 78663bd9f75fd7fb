"""Huber's loss, for labels with outliers."""

from dataclasses import KW_ONLY

import equinox as eqx
import jax.numpy as jnp

from ...types import Scalar
from ..checks import number
from .loss import Loss, Moments


class HuberLoss(Loss):
    """Huber's loss: quadratic up to ``threshold``, linear beyond; labels f_star + noise_std sinh(tail n)/tail.

    ``tail`` makes the noise heavy-tailed, 0 Gaussian. The error that is reported is the squared distance to the
    teacher, (f - f_star)^2: heavy tails make a mean square of labels meaningless.

    Examples
    --------
    >>> import flowlimit as fl
    >>> float(fl.HuberLoss(threshold=1.0).residual(jnp.array(5.0), jnp.array(0.0), jnp.array(0.0)))
    1.0
    """

    threshold: Scalar = eqx.field(default=1.0, converter=number("threshold", above=0.0))
    _: KW_ONLY
    noise_std: Scalar = eqx.field(default=0.0, converter=number("noise_std", at_least=0.0))
    tail: Scalar = eqx.field(default=0.0, converter=number("tail", at_least=0.0))

    @property
    def is_difference(self) -> bool:
        """It is."""
        return True

    def residual(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return f - y, clipped."""
        return jnp.clip(f - self._label(f_star, noise), -self.threshold, self.threshold)

    def loss(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return Huber's loss."""
        inside = self.residual(f, f_star, noise)
        return inside * (f - self._label(f_star, noise)) - 0.5 * inside**2

    def error(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return (f - f_star)^2."""
        return (f - f_star) ** 2

    def test_error(self, moments: Moments, noise_var: Scalar) -> Scalar:
        """Return E[(f - f_star)^2]."""
        return moments.distance

    def _label(self, f_star: Scalar, noise: Scalar) -> Scalar:
        stretched = jnp.where(self.tail > 0.0, jnp.sinh(self.tail * noise) / jnp.maximum(self.tail, 1e-300), noise)
        return f_star + self.noise_std * stretched
