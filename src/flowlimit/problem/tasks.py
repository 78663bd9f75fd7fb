"""Tasks: the law of the data and the loss that is trained on it; and `Dataset`, concrete data in place of a task."""

import abc
import warnings
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..types import Coordinates, Matrix, Number, Output, Samples, Scalar, Teacher, is_traced
from .checks import as_float, instance, number, optional_number
from .designs import Design, GaussianDesign, MatrixDesign, as_matrix
from .laws import Law, Target
from .losses import LogisticLoss, Loss, SquaredLoss
from .noun import Noun, data_field

FEWEST_DIM, FACTOR = 10, 4.0
"""Data of few dimensions may have any scale, and larger ones up to this factor: chance, and what one may want."""


class _Task(Noun):
    """What tasks share: labels made by a linear teacher w*, on samples / dim -> aspect_ratio, and a loss."""

    @property
    @abc.abstractmethod
    def noise_scale(self) -> Scalar:
        """Standard deviation of the noise numbers that the loss takes."""

    @property
    @abc.abstractmethod
    def error_floor(self) -> Scalar:
        """What label noise adds to the test error, besides what the loss knows of."""

    def _own(self, name: str) -> Any:
        """Return what every task has, as a field or as a property, in an order of its own."""
        return getattr(self, name)

    def residual(self, f: Output, f_star: Teacher, noise: Scalar) -> Output:
        """Return the derivative of the loss of one sample."""
        return self._own("loss").residual(f, f_star, noise)

    def error(self, f: Output, f_star: Teacher, noise: Scalar) -> Scalar:
        """Return the error of one sample."""
        return self._own("loss").error(f, f_star, noise)

    def samples(self, dim: int) -> int:
        """Return the number of samples at a dim, at least 1."""
        design, aspect_ratio = self._own("design"), self._own("aspect_ratio")
        return design.matrix.shape[0] if isinstance(design, MatrixDesign) else max(1, round(float(aspect_ratio) * dim))

    def __check_init__(self) -> None:
        design, aspect_ratio = self._own("design"), self._own("aspect_ratio")
        if isinstance(design, MatrixDesign) and not is_traced(aspect_ratio):
            samples, dim = design.matrix.shape
            if abs(float(aspect_ratio) * dim - samples) > 0.5:
                raise ValueError(
                    f"aspect_ratio: given {float(aspect_ratio):g}, but the design's matrix is {samples} x {dim}; "
                    f"needs aspect_ratio={samples / dim:g}"
                )


class Regression(_Task):
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

    @property
    def loss(self) -> SquaredLoss:
        """The squared loss."""
        return SquaredLoss()

    @property
    def noise_scale(self) -> Scalar:
        """The root of noise_var."""
        return jnp.sqrt(self.noise_var)

    @property
    def error_floor(self) -> Scalar:
        """Return noise_var."""
        return self.noise_var


class _NormalNoise(_Task):
    """A task whose loss makes its labels from standard normals."""

    @property
    def noise_scale(self) -> Scalar:
        """Return 1: losses take standard normals."""
        return jnp.ones(())

    @property
    def error_floor(self) -> Scalar:
        """Return 0: the loss's own test error knows its noise."""
        return jnp.zeros(())


class GeneralizedLinear(_NormalNoise):
    """Any loss on labels made by a linear teacher.

    Parameters
    ----------
    aspect_ratio
        Samples over dim, the paper's delta.
    target
        Law of the entries of the teacher w*; `Independent` for several teachers.
    loss
        A loss with its labels, e.g. `HuberLoss`, `LogisticLoss`, or a `CustomLoss` of your own.
    design
        Law of the data matrix; Gaussian unless given.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.GeneralizedLinear(2.0, fl.Normal(), fl.HuberLoss(noise_std=0.5, tail=1.0))
    GeneralizedLinear(aspect_ratio=2, target=Normal(), loss=HuberLoss(noise_std=0.5, tail=1))
    """

    aspect_ratio: Scalar = eqx.field(converter=number("aspect_ratio", above=0.0, example=0.5))
    target: Target = eqx.field(converter=instance("target", Target, "fl.Bernoulli(0.1)"))
    loss: Loss = eqx.field(converter=instance("loss", Loss, "fl.HuberLoss(threshold=1.0)"))
    design: Design = eqx.field(default=GaussianDesign(), converter=instance("design", Design, "fl.GaussianDesign()"))


class Classification(_NormalNoise):
    """Two classes: labels are the sign of a linear teacher, or random around it, and the loss is logistic.

    Parameters
    ----------
    aspect_ratio
        Samples over dim, the paper's delta.
    target
        Law of the entries of the teacher w*.
    slope
        Of a logistic teacher, P(y = 1) = 1/(1 + e^(-slope f_star)); a sign teacher unless given.
    design
        Law of the data matrix; Gaussian unless given.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.Classification(aspect_ratio=2.0, target=fl.Normal())
    Classification(aspect_ratio=2, target=Normal())
    """

    aspect_ratio: Scalar = eqx.field(converter=number("aspect_ratio", above=0.0, example=0.5))
    target: Law = eqx.field(converter=instance("target", Law, "fl.Bernoulli(0.1)"))
    slope: Scalar | None = eqx.field(default=None, converter=optional_number("slope", above=0.0, example=2.0))
    design: Design = eqx.field(default=GaussianDesign(), converter=instance("design", Design, "fl.GaussianDesign()"))

    @property
    def loss(self) -> LogisticLoss:
        """The logistic loss."""
        return LogisticLoss(self.slope)


Task = Regression | GeneralizedLinear | Classification
"""Any law of data."""


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
    y: Samples = data_field(lambda y: _entries("y", y, "samples"))
    w_star: Coordinates | None = data_field(lambda w: None if w is None else _entries("w_star", w, "dim"), default=None)
    noise_var: Scalar | None = eqx.field(
        default=None, converter=optional_number("noise_var", at_least=0.0, example=0.01)
    )

    def __check_init__(self) -> None:
        samples, dim = self.X.shape
        _check_length("y", self.y, samples, "samples")
        if self.w_star is not None:
            _check_length("w_star", self.w_star, dim, "dim")
        _warn_of_scale(self.X)

    @property
    def loss(self) -> SquaredLoss:
        """The loss that is trained."""
        return SquaredLoss()

    @property
    def aspect_ratio(self) -> Number:
        """Samples over dim."""
        return self.X.shape[0] / self.X.shape[1]


def _entries(name: str, value: Any, axis: str) -> Float[Array, "..."]:
    return as_float(name, value, f"needs numbers, one entry for each of X's {axis}")


def _warn_of_scale(X: Matrix) -> None:
    """Warn of entries nearer to variance 1 than to 1/dim: training is then dim times as fast as the limit says.

    Judged by the median row, whose squared norm should be about 1: heavy tails make a few rows large.
    """
    dim = X.shape[1]
    if is_traced(X) or dim < FEWEST_DIM:
        return
    square = float(jnp.median(jnp.einsum("ij,ij->i", X, X)))
    if square > max(FACTOR, dim**0.5):
        warnings.warn(
            f"X: given entries of mean square {square / dim:.3g}, needs about 1/dim = {1.0 / dim:.3g}, which limits, "
            f"times and step sizes suppose; scale them, e.g. fl.Dataset(X / np.sqrt({square:.4g}), y), which for "
            f"standardised columns is X / sqrt(dim)",
            stacklevel=2,
        )


def _check_length(name: str, array: Float[Array, "..."], length: int, axis: str) -> None:
    if array.shape != (length,):
        raise ValueError(f"{name}: given shape {array.shape}, needs ({length},), one entry for each of X's {axis}")
    if not is_traced(array) and not bool(jnp.isfinite(array).all()):
        raise ValueError(f"{name}: given entries that are not finite; impute or drop them first")
