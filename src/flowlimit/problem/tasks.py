"""Tasks: the law of the data and the loss that is trained on it; and `Dataset`, concrete data in place of a task."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..types import Coordinates, Matrix, Number, Samples, Scalar, is_traced
from .checks import instance, number, optional_number
from .designs import Design, GaussianDesign, MatrixDesign, as_matrix
from .laws import Law
from .noun import Noun, data_field


class SquaredLoss(Noun):
    """Loss (1/2)(y - f)^2 a sample, with y = f_star + noise. Errors are the paper's, without the 1/2."""

    def residual(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return l(f; noise), the derivative of the loss."""
        return f - f_star - noise

    def loss(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return the loss of one sample."""
        return 0.5 * self.residual(f, f_star, noise) ** 2

    def error(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return the error that is reported, (y - f)^2."""
        return self.residual(f, f_star, noise) ** 2

    def test_error(self, w: Coordinates, w_star: Coordinates, noise_var: Scalar) -> Scalar:
        """Return the mean error on new isotropic samples, ``|w - w*|^2/d + noise_var``."""
        return jnp.mean((w - w_star) ** 2) + noise_var


class Regression(Noun):
    """Linear teacher with noise, y = x.w* + xi, on samples / dim -> aspect_ratio.

    Parameters
    ----------
    aspect_ratio
        The paper's delta = n/d.
    noise_var
        Variance sigma^2 of the label noise xi.
    target
        Law P_* of the entries of w*.
    design
        Law of the data matrix; Gaussian unless given. The limit is the same for all designs with independent entries
        and light tails.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    Regression(aspect_ratio=0.5, noise_var=0.01, target=Bernoulli(probability=0.1))
    """

    aspect_ratio: Scalar = eqx.field(converter=number("aspect_ratio", above=0.0, example=0.5))
    noise_var: Scalar = eqx.field(converter=number("noise_var", at_least=0.0, example=0.01))
    target: Law = eqx.field(converter=instance("target", Law, "fl.Bernoulli(0.1)"))
    design: Design = eqx.field(default=GaussianDesign(), converter=instance("design", Design, "fl.GaussianDesign()"))

    def __check_init__(self) -> None:
        if isinstance(self.design, MatrixDesign) and not is_traced(self.aspect_ratio):
            samples, dim = self.design.matrix.shape
            if abs(float(self.aspect_ratio) * dim - samples) > 0.5:
                raise ValueError(
                    f"aspect_ratio: given {float(self.aspect_ratio):g}, but the design's matrix is {samples} x {dim}; "
                    f"needs aspect_ratio={samples / dim:g}"
                )

    @property
    def loss(self) -> SquaredLoss:
        """The loss that is trained."""
        return SquaredLoss()

    def residual(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return f - y, the derivative of the loss of one sample."""
        return self.loss.residual(f, f_star, noise)

    def error(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return (f - y)^2, the error of one sample."""
        return self.loss.error(f, f_star, noise)

    def samples(self, dim: int) -> int:
        """Return the number of samples at a dim, at least 1."""
        if isinstance(self.design, MatrixDesign):
            return self.design.matrix.shape[0]
        return max(1, round(float(self.aspect_ratio) * dim))


class Dataset(Noun):
    """Concrete data, in place of a task in `simulate`.

    Parameters
    ----------
    X, y
        Data matrix of shape (samples, dim), rows x with entries of variance about 1/dim, and labels.
    w_star
        Target weights if known; without them there is no test error.
    noise_var
        Variance of the label noise if known; the test error includes it.

    Examples
    --------
    >>> import numpy as np, flowlimit as fl
    >>> fl.Dataset(np.eye(3), np.ones(3))
    Dataset(X=<array 3x3>, y=<array 3>)
    """

    X: Matrix = data_field(lambda X: as_matrix("X", X))
    y: Samples = data_field(lambda y: jnp.asarray(y, dtype=jnp.float64))
    w_star: Coordinates | None = data_field(
        lambda w: None if w is None else jnp.asarray(w, dtype=jnp.float64), default=None
    )
    noise_var: Scalar | None = eqx.field(
        default=None, converter=optional_number("noise_var", at_least=0.0, example=0.01)
    )

    def __check_init__(self) -> None:
        samples, dim = self.X.shape
        _check_length("y", self.y, samples, "samples")
        if self.w_star is not None:
            _check_length("w_star", self.w_star, dim, "dim")

    @property
    def loss(self) -> SquaredLoss:
        """The loss that is trained."""
        return SquaredLoss()

    @property
    def aspect_ratio(self) -> Number:
        """Samples over dim."""
        return self.X.shape[0] / self.X.shape[1]


def _check_length(name: str, array: Float[Array, "..."], length: int, axis: str) -> None:
    if array.shape != (length,):
        raise ValueError(f"{name}: given shape {array.shape}, needs ({length},), one entry for each of X's {axis}")
    if not is_traced(array) and not bool(jnp.isfinite(array).all()):
        raise ValueError(f"{name}: given entries that are not finite; impute or drop them first")
