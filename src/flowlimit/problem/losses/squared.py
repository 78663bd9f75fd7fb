"""The squared loss."""

from ...types import Scalar
from .loss import Loss, Moments


class SquaredLoss(Loss):
    """Loss (1/2)(y - f)^2 per sample, with y = f_star + noise. Errors are the paper's, without the 1/2."""

    @property
    def is_difference(self) -> bool:
        """It is."""
        return True

    @property
    def closes(self) -> bool:
        """It does: its residual is linear."""
        return True

    def residual(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return f - y."""
        return f - f_star - noise

    def loss(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return (f - y)^2/2."""
        return 0.5 * self.residual(f, f_star, noise) ** 2

    def error(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return (y - f)^2."""
        return self.residual(f, f_star, noise) ** 2

    def test_error(self, moments: Moments, noise_var: Scalar) -> Scalar:
        """Return E[(f - f_star)^2] + noise_var."""
        return moments.distance + noise_var
