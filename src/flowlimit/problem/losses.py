"""Losses of one sample: what is trained, what is reported, and how labels come from a teacher.

A sample has an output f, its teacher's output f_star and a noise number; the label is a function of the last two.
"""

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..types import Coordinates, Scalar
from .checks import number, optional_number
from .noun import Noun

ORDER, NOISE_ORDER = 40, 24
"""Gauss-Hermite nodes for averages over new samples: for each output, and for the noise."""


class Moments(eqx.Module):
    """Of (f, f_star) on a new sample: E[f^2], E[f f_star], E[f_star^2], and E[(f - f_star)^2] without cancellation."""

    student: Scalar
    overlap: Scalar
    teacher: Scalar
    distance: Scalar


class Loss(Noun):
    """A loss. A subclass gives `residual`, `loss`, `error` and `test_error`; simulator and solver need no more."""

    @property
    @abc.abstractmethod
    def is_difference(self) -> bool:
        """Whether the residual depends on f - f_star alone, so that a teacher acts through it only."""

    @abc.abstractmethod
    def residual(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return l(f), the derivative of the loss by f."""

    @abc.abstractmethod
    def loss(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return the loss."""

    @abc.abstractmethod
    def error(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return the error that is reported."""

    @abc.abstractmethod
    def test_error(self, moments: Moments, noise_var: Scalar) -> Scalar:
        """Return the mean error on new isotropic samples, where (f, f_star) is Gaussian."""


def moments_of(w: Coordinates, w_star: Coordinates) -> Moments:
    """Return the moments of a finite-size model on new samples."""
    return Moments(*map(jnp.mean, (w**2, w * w_star, w_star**2, (w - w_star) ** 2)))


class SquaredLoss(Loss):
    """Loss (1/2)(y - f)^2 a sample, with y = f_star + noise. Errors are the paper's, without the 1/2."""

    @property
    def is_difference(self) -> bool:
        """It is."""
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


class CustomLoss(Loss):
    """A loss of your own: labels from a teacher, and functions of output and label.

    Parameters
    ----------
    label
        ``(f_star, normal) -> y``, with a standard normal for the noise.
    loss
        ``(f, y) -> loss``; the residual is its derivative by f.
    error
        ``(f, y) -> error`` that is reported, the loss unless given. It should be smooth: its mean over new samples is
        a Gauss-Hermite sum.
    is_difference
        Whether the loss depends on f - f_star alone. It saves noise, and is checked.

    Examples
    --------
    >>> import flowlimit as fl
    >>> quartic = fl.CustomLoss(label=lambda f_star, n: f_star**2, loss=lambda f, y: 0.25 * (f**2 - y) ** 2)
    >>> float(quartic.residual(jnp.array(2.0), jnp.array(1.0), jnp.array(0.0)))
    6.0
    """

    label_function: Callable[[Any, Any], Any] = eqx.field(static=True, metadata={"argument": "label"})
    loss_function: Callable[[Any, Any], Any] = eqx.field(static=True, metadata={"argument": "loss"})
    error_function: Callable[[Any, Any], Any] = eqx.field(static=True, metadata={"argument": "error"})
    difference: bool = eqx.field(static=True, metadata={"argument": "is_difference"})

    def __init__(self, label: Any, loss: Any, error: Any = None, is_difference: bool = False) -> None:
        for name, given in (("label", label), ("loss", loss), ("error", error or loss)):
            if not callable(given):
                raise TypeError(f"{name}: given {given!r}, needs a function, e.g. loss=lambda f, y: jnp.abs(f - y)")
        self.label_function, self.loss_function, self.error_function = label, loss, error or loss
        self.difference = is_difference
        self._check()

    def _check(self) -> None:
        try:
            found = [
                function(jnp.array(0.3), jnp.array(0.4), jnp.array(0.5)) for function in (self.residual, self.error)
            ]
        except Exception as problem:
            raise ValueError(f"loss: its functions fail on single numbers: {problem}") from problem
        if any(jnp.shape(value) != () for value in found):
            raise ValueError("loss: given functions with arrays for values, needs one number a sample")
        moved = self.residual(jnp.array(0.3 + 0.7), jnp.array(0.4 + 0.7), jnp.array(0.5))
        if self.difference and abs(float(moved - found[0])) > 1e-9:
            raise ValueError("is_difference: given True, but moving f and f_star together changes the residual")

    @property
    def is_difference(self) -> bool:
        """As given."""
        return self.difference

    def residual(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return d loss/d f."""
        return jax.grad(lambda f: self.loss_function(f, self.label_function(f_star, noise)))(f)

    def loss(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return the user's loss."""
        return self.loss_function(f, self.label_function(f_star, noise))

    def error(self, f: Scalar, f_star: Scalar, noise: Scalar) -> Scalar:
        """Return the user's error."""
        return self.error_function(f, self.label_function(f_star, noise))

    def test_error(self, moments: Moments, noise_var: Scalar) -> Scalar:
        """Return the mean error by Gauss-Hermite sums over f, f_star and the noise."""
        return gaussian_mean(self.error, moments)


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


def gaussian_mean(function: Callable[[Scalar, Scalar, Scalar], Scalar], moments: Moments) -> Scalar:
    """Return E[function(f, f_star, noise)] over Gaussian outputs and a standard normal noise."""
    x, weights = _hermite(ORDER)
    noise, noise_weights = _hermite(NOISE_ORDER)
    scale = jnp.sqrt(moments.teacher)
    along = jnp.where(scale > 0.0, moments.overlap / jnp.where(scale > 0.0, scale, 1.0), 0.0)
    across = jnp.sqrt(jnp.maximum(moments.student - along**2, 0.0))
    one = lambda a, b, n: function(along * a + across * b, scale * a, n)
    values = jax.vmap(jax.vmap(jax.vmap(one, (None, None, 0)), (None, 0, None)), (0, None, None))(x, x, noise)
    return jnp.einsum("a,b,n,abn->", weights, weights, noise_weights, values)


def _half_normal() -> tuple[Any, Any]:
    """Return nodes and weights for |x| of a standard normal, graded towards 0: steep functions change there."""
    inside, share = np.polynomial.legendre.leggauss(8)
    edges = np.concatenate([[0.0], np.geomspace(1e-6, 10.0, 36)])
    middle, half = (edges[1:] + edges[:-1]) / 2.0, (edges[1:] - edges[:-1]) / 2.0
    x = (middle[:, None] + half[:, None] * inside[None]).ravel()
    weights = (half[:, None] * share[None]).ravel() * np.exp(-0.5 * x**2) * np.sqrt(2.0 / np.pi)
    return jnp.asarray(x), jnp.asarray(weights)


def _hermite(order: int) -> tuple[Any, Any]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(order)
    return jnp.asarray(nodes), jnp.asarray(weights / weights.sum())
