"""Tasks: the law of the data and the loss that is trained on it; and `Dataset`, concrete data in place of a task."""

# Nouns are frozen, so that a property, or a narrower type, may stand in for an abstract attribute.
# pyright: reportIncompatibleVariableOverride=false

import abc
import warnings
from dataclasses import KW_ONLY
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..types import Coordinates, Matrix, Output, Samples, Scalar, Teacher, is_traced
from .checks import as_float, instance, number, optional, optional_number, shown, vector
from .designs import Design, GaussianDesign, as_matrix
from .features import FeatureLaw
from .laws import Law, Target
from .losses import LogisticLoss, Loss, SquaredLoss
from .noun import Noun, data_field

FEWEST_DIM, FACTOR = 10, 4.0
"""Data of few dimensions may have any scale, and larger ones up to this factor: chance, and what one may want."""


N_OVER_D = "n/d, samples over dim"
FEATURES = "fl.PowerLaw(1000, capacity=1.2, source=1.5)"


class Known(NamedTuple):
    """What is known of the data before any trial is drawn; None for what each trial draws, or what nobody knows."""

    X: Matrix | None
    y: Samples | None
    w_star: Coordinates | None
    noise_var: Scalar
    """What label noise adds to the test error."""
    variances: Coordinates | None = None
    """Of the features; None where all have the variance 1/dim."""


class DataSource(Noun):
    """What a model is trained on: a law of data, `Task`, or concrete data, `Dataset`."""

    loss: eqx.AbstractVar[Loss]

    @property
    @abc.abstractmethod
    def is_random(self) -> bool:
        """Whether each trial draws separate data."""

    @property
    @abc.abstractmethod
    def teachers(self) -> tuple[int, ...]:
        """Shape of a coordinate of the target."""

    @abc.abstractmethod
    def known(self) -> Known:
        """Return what all trials share."""


class Task(DataSource):
    """The law of the data, and the loss that is trained on them.

    Labels are made by a linear teacher w* with independent coordinates: f_star = X w*. The loss turns f_star and a
    noise number into a label. A subclass must have six attributes, as fields or as properties; one more, ``features``,
    may stand in for the target where features have unequal variances:

    - ``aspect_ratio``: samples over dim, n/d, of shape ``()``.
    - ``target``: the law of a coordinate of w*, a `Law`, or a `Target` for several teachers.
    - ``design``: the law of the data matrix X, a `Design`.
    - ``loss``: a `Loss`.
    - ``noise_scale``: standard deviation of the noise numbers that the loss takes, of shape ``()``; 1 for every loss
      but the squared one, since these make their label noise from standard normals.
    - ``error_floor``: what label noise adds to the test error besides what the loss knows of, of shape ``()``:
      noise_scale^2 for the squared loss, 0 for others.
    """

    aspect_ratio: eqx.AbstractVar[Scalar]
    target: eqx.AbstractVar[Target | None]
    design: eqx.AbstractVar[Design]
    noise_scale: eqx.AbstractVar[Scalar]
    error_floor: eqx.AbstractVar[Scalar]

    @property
    def is_random(self) -> bool:
        """True: data are drawn."""
        return True

    @property
    def feature_law(self) -> FeatureLaw | None:
        """Law of variances and targets; None for features of equal variance."""
        return getattr(self, "features", None)

    @property
    def law(self) -> Target:
        """Law of a coordinate: that of the features, or else that of the target."""
        own = self.target if self.feature_law is None else self.feature_law
        assert own is not None  # checked below
        return own

    @property
    def teachers(self) -> tuple[int, ...]:
        """Shape of a draw of the target."""
        return self.law.shape

    def known(self) -> Known:
        """Return the design's matrix if it has one, and the error floor."""
        return Known(self.design.fixed_matrix, None, None, self.error_floor)

    def regression_form(self) -> "Regression | None":
        """Return the `Regression` that has the same data, for closed forms; None if the loss is not the squared one."""
        if not self.loss.closes or self.law.shape:
            return None
        own = {"target": self.target} if self.feature_law is None else {"features": self.feature_law}
        return Regression(self.aspect_ratio, noise_var=self.error_floor, design=self.design, **own)

    def residual(self, f: Output, f_star: Teacher, noise: Scalar) -> Output:
        """Return the derivative of the loss of one sample."""
        return self.loss.residual(f, f_star, noise)

    def error(self, f: Output, f_star: Teacher, noise: Scalar) -> Scalar:
        """Return the error of one sample."""
        return self.loss.error(f, f_star, noise)

    def samples(self, dim: int) -> int:
        """Return the number of samples at a dim, at least 1."""
        matrix = self.design.fixed_matrix
        return max(1, round(float(self.aspect_ratio) * dim)) if matrix is None else matrix.shape[0]

    def __check_init__(self) -> None:
        matrix, aspect_ratio = self.design.fixed_matrix, self.aspect_ratio
        _check_law(self.target, self.feature_law, matrix)
        if matrix is not None and not is_traced(aspect_ratio):
            samples, dim = matrix.shape
            if abs(float(aspect_ratio) * dim - samples) > 0.5:
                raise ValueError(
                    f"aspect_ratio: given {float(aspect_ratio):g}, but the design's matrix is {samples} x {dim}; "
                    f"needs aspect_ratio={samples / dim:g}, which is n/d"
                )


class Regression(Task):
    """Linear teacher with noise, y = x.w* + xi, on samples / dim -> aspect_ratio.

    Parameters
    ----------
    aspect_ratio
        The paper's delta = n/d.
    noise_var
        Variance sigma^2 of the label noise xi.
    target
        Law P_* of the entries of w*.
    features
        In its place, for features of unequal variances: the joint law of variance and w*, e.g. `PowerLaw`.
    design
        Law of the data matrix; Gaussian unless given. The limit is the same for all designs with independent entries
        and light tails.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    Regression(aspect_ratio=0.5, noise_var=0.01, target=Bernoulli(probability=0.1))
    """

    aspect_ratio: Scalar = eqx.field(converter=number("aspect_ratio", above=0.0, example=0.5, meaning=N_OVER_D))
    _: KW_ONLY
    noise_var: Scalar = eqx.field(converter=number("noise_var", at_least=0.0, example=0.01))
    target: Law | None = eqx.field(
        default=None, converter=optional("target", Law, "fl.Bernoulli(0.1)", "fl.Empirical(values)")
    )
    features: FeatureLaw | None = eqx.field(default=None, converter=optional("features", FeatureLaw, FEATURES))
    design: Design = eqx.field(default=GaussianDesign(), converter=instance("design", Design, "fl.GaussianDesign()"))

    @property
    def coordinate_law(self) -> Law | FeatureLaw:
        """Law of w* and of its feature's variance, for closed forms; the variance is 1 beside a plain target."""
        own = self.target if self.features is None else self.features
        assert own is not None  # checked at construction
        return own

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

    def regression_form(self) -> "Regression":
        """Return itself."""
        return self


class _NormalNoise(Task):
    """A task whose loss makes its labels from standard normals."""

    @property
    def noise_scale(self) -> Scalar:
        """Return 1: losses take standard normals."""
        return jnp.ones(())

    @property
    def error_floor(self) -> Scalar:
        """Return 0: the loss's own test error knows its noise; 1 for the squared loss, which does not."""
        return jnp.ones(()) if self.loss.closes else jnp.zeros(())


class GeneralizedLinear(_NormalNoise):
    """Any loss on labels made by a linear teacher.

    Parameters
    ----------
    aspect_ratio
        Samples over dim, the paper's delta.
    target
        Law of the entries of the teacher w*; `Independent` for several teachers.
    features
        In its place, for features of unequal variances: the joint law of variance and w*.
    loss
        A loss with its labels, e.g. `HuberLoss`, `LogisticLoss`, or a `CustomLoss` of your own.
    design
        Law of the data matrix; Gaussian unless given.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.GeneralizedLinear(2.0, target=fl.Normal(), loss=fl.HuberLoss(noise_std=0.5, tail=1.0))
    GeneralizedLinear(aspect_ratio=2, target=Normal(), loss=HuberLoss(noise_std=0.5, tail=1))
    """

    aspect_ratio: Scalar = eqx.field(converter=number("aspect_ratio", above=0.0, example=0.5, meaning=N_OVER_D))
    _: KW_ONLY
    target: Target | None = eqx.field(
        default=None, converter=optional("target", Target, "fl.Bernoulli(0.1)", "fl.Empirical(values)")
    )
    features: FeatureLaw | None = eqx.field(default=None, converter=optional("features", FeatureLaw, FEATURES))
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
    features
        In its place, for features of unequal variances: the joint law of variance and w*.
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

    aspect_ratio: Scalar = eqx.field(converter=number("aspect_ratio", above=0.0, example=0.5, meaning=N_OVER_D))
    _: KW_ONLY
    target: Law | None = eqx.field(
        default=None, converter=optional("target", Law, "fl.Bernoulli(0.1)", "fl.Empirical(values)")
    )
    features: FeatureLaw | None = eqx.field(default=None, converter=optional("features", FeatureLaw, FEATURES))
    slope: Scalar | None = eqx.field(default=None, converter=optional_number("slope", above=0.0, example=2.0))
    design: Design = eqx.field(default=GaussianDesign(), converter=instance("design", Design, "fl.GaussianDesign()"))

    @property
    def loss(self) -> LogisticLoss:
        """The logistic loss."""
        return LogisticLoss(self.slope)


class Dataset(DataSource):
    """Concrete data, in place of a task in `simulate`.

    Parameters
    ----------
    X, y
        Data matrix of shape (samples, dim), rows x with entries of variance about 1/dim, and labels.
    w_star
        Target weights if known; without them there is no test error.
    noise_var
        Variance of the label noise if known; the test error includes it.
    variances
        Variances of the features, times dim, if they are unequal: entries of column j of X have variance
        ``variances[j] / dim``. The test error is that of such features; 1 for each unless given.

    Examples
    --------
    >>> import numpy as np, flowlimit as fl
    >>> fl.Dataset(np.eye(3), np.ones(3))
    Dataset(X=<array 3x3>, y=<array 3>)
    """

    X: Matrix = data_field(lambda X: as_matrix("X", X))
    y: Samples = data_field(lambda y: _entries("y", y, "samples"))
    _: KW_ONLY
    w_star: Coordinates | None = data_field(lambda w: None if w is None else _entries("w_star", w, "dim"), default=None)
    noise_var: Scalar | None = eqx.field(
        default=None, converter=optional_number("noise_var", at_least=0.0, example=0.01)
    )
    variances: Coordinates | None = data_field(
        lambda s: None if s is None else vector("variances", above=0.0, example="[1.0, 0.1]")(s), default=None
    )

    def __check_init__(self) -> None:
        samples, dim = self.X.shape
        _check_length("y", self.y, samples, "samples")
        for name in ("w_star", "variances"):
            if (given := getattr(self, name)) is not None:
                _check_length(name, given, dim, "dim")
        _warn_of_scale(self.X)

    @property
    def loss(self) -> SquaredLoss:
        """The loss that is trained."""
        return SquaredLoss()

    @property
    def aspect_ratio(self) -> float:
        """Samples over dim."""
        return self.X.shape[0] / self.X.shape[1]

    @property
    def is_random(self) -> bool:
        """False: data are given."""
        return False

    @property
    def teachers(self) -> tuple[int, ...]:
        """One teacher."""
        return ()

    def known(self) -> Known:
        """Return all of it; label noise that nobody knows adds nothing to the test error."""
        noise_var = jnp.zeros(()) if self.noise_var is None else self.noise_var
        return Known(self.X, self.y, self.w_star, noise_var, self.variances)


def _check_law(target: Target | None, features: FeatureLaw | None, matrix: Matrix | None) -> None:
    """Refuse a task without a law of its coordinates, with two of them, or of features that a matrix does not have."""
    if (target is None) == (features is None):
        given = "neither target nor features" if target is None else "both target and features"
        raise ValueError(
            f"target: given {given}; needs one of them, target=fl.Bernoulli(0.1) for features of equal variance, or "
            f"features={FEATURES}"
        )
    if features is not None and matrix is not None:
        raise ValueError(
            f"features: given {shown(features)} beside a design that is a matrix, whose columns have variances "
            f"of their own; leave design= out, or scale the columns and give fl.Dataset(X, y, variances=...)"
        )


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
