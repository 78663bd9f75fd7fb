"""The base class of losses, and the moments of outputs on new samples.

A sample has an output f, its teacher's output f_star and a noise number; the label is a function of the last two.
"""

import abc

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...types import Output, OutputRows, Scalar, Teacher, TeacherRows, is_traced
from ..functions import called, is_users
from ..noun import Noun


class Moments(eqx.Module):
    """Of (f, f_star) on a new sample: E[f f^T], E[f f_star^T], E[f_star f_star^T] and the mean square of f - f_star.

    The first three are ``student``, ``overlap`` and ``teacher``, the last is ``distance``. Numbers for one output and
    one teacher, matrices for several. The last is there for its accuracy where the first three cancel; it is NaN where
    f and f_star differ in shape.
    """

    student: Float[Array, "*student"]
    overlap: Float[Array, "*overlap"]
    teacher: Float[Array, "*teacher"]
    distance: Scalar


def moments_of(w: OutputRows, w_star: TeacherRows, probability: Float[Array, "dim"] | None = None) -> Moments:
    """Return the moments on new isotropic samples of weights given coordinate by coordinate."""
    dim = w.shape[-1]
    share = jnp.full(dim, 1.0 / dim) if probability is None else probability

    def mean(a: Float[Array, "... dim"], b: Float[Array, "... dim"]) -> Float[Array, "..."]:
        return ((a.reshape(-1, dim) * share[None]) @ b.reshape(-1, dim).T).reshape(a.shape[:-1] + b.shape[:-1])

    distance = jnp.sum((w - w_star) ** 2 @ share) if w.shape == w_star.shape else jnp.array(jnp.nan)
    return Moments(mean(w, w), mean(w, w_star), mean(w_star, w_star), distance)


class Loss(Noun):
    """A loss of one sample, with output f, teacher's output f_star and a standard normal number ``noise``.

    f has shape ``()``, or ``(c,)`` for c outputs; f_star has shape ``()``, or ``(teachers,)``. The label is a function
    of f_star and noise that the loss knows. A subclass must write five methods:

    - ``is_difference`` (property) -> bool, whether the residual depends on f - f_star and noise alone.
    - ``residual(f, f_star, noise)`` -> the derivative of the loss by f, shaped like f.
    - ``loss(f, f_star, noise)`` -> the loss that is trained, of shape ``()``.
    - ``error(f, f_star, noise)`` -> the error that is reported, of shape ``()``.
    - ``test_error(moments, noise_var)`` -> the mean of ``error`` over new samples, of shape ``()``, on which
      (f, f_star) is Gaussian with the second moments of `Moments`; ``noise_var`` is the task's error floor.
    """

    @property
    @abc.abstractmethod
    def is_difference(self) -> bool:
        """Whether the residual depends on f - f_star alone, so that a teacher acts through it only."""

    @property
    def closes(self) -> bool:
        """Whether outputs stay Gaussian, so that the limit needs no paths of them.

        True only for the residual f - f_star - noise of the squared loss, with noise of the task's scale.
        """
        return False

    @abc.abstractmethod
    def residual(self, f: Output, f_star: Teacher, noise: Scalar) -> Output:
        """Return l(f), the derivative of the loss by f."""

    @abc.abstractmethod
    def loss(self, f: Output, f_star: Teacher, noise: Scalar) -> Scalar:
        """Return the loss."""

    @abc.abstractmethod
    def error(self, f: Output, f_star: Teacher, noise: Scalar) -> Scalar:
        """Return the error that is reported."""

    @abc.abstractmethod
    def test_error(self, moments: Moments, noise_var: Scalar) -> Scalar:
        """Return the mean error on new isotropic samples, where (f, f_star) is Gaussian."""

    def test_error_bar(self, moments: Moments) -> Scalar:
        """Return by how much `test_error` may be off, where it is a numerical integral."""
        return jnp.zeros(())

    def check(self, outputs: tuple[int, ...], teachers: tuple[int, ...]) -> None:
        """Refuse a model with such outputs, or such teachers, if the loss is not made for them."""
        sizes = f"an output of shape {outputs} and a teacher's of shape {teachers}"
        sample = (jnp.zeros(outputs), jnp.zeros(teachers), jnp.zeros(()))
        for function, needed in ((self.loss, ()), (self.error, ()), (self.residual, outputs)):
            words = f"loss: given {self!r}, whose {function.__name__} fails on {sizes}"
            found = jnp.shape(called(words, function, *sample, indices=is_users(self)))
            if found != needed:
                raise ValueError(
                    f"loss: given {self!r}, whose {function.__name__} has shape {found} for {sizes}; needs {needed}"
                )
        self._check_closes(outputs, teachers)

    def _check_closes(self, outputs: tuple[int, ...], teachers: tuple[int, ...]) -> None:
        """Refuse a wrong claim to close: the limit would be that of the squared loss."""
        if not self.closes or not is_users(self):
            return
        f, f_star, noise = jnp.full(outputs, 0.3), jnp.full(teachers, -0.4), jnp.array(0.7)
        found = self.residual(f, f_star, noise) if outputs == teachers == () else jnp.array(jnp.nan)
        if not is_traced(found) and not bool(jnp.abs(found - (f - f_star - noise)) < 1e-9):
            raise ValueError(
                f"loss: given {self!r}, which says that it closes; that needs one output and the residual "
                f"f - f_star - noise of the squared loss"
            )
