"""A loss made from functions."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ...types import Output, Scalar, Teacher, is_traced
from ..checks import flag, shown
from .gaussian import COARSER, ORDERS, gaussian_mean
from .loss import Loss, Moments


class CustomLoss(Loss):
    """A loss of your own: labels from a teacher, and functions of output and label.

    Parameters
    ----------
    label
        ``(f_star, normal) -> y``, with a standard normal for the noise. ``f_star`` has one entry a teacher if the
        task's target is `Independent`.
    loss
        ``(f, y) -> loss``; the residual is its derivative by f. ``f`` has one entry an output if the model's
        ``weight`` returns several numbers.
    error
        ``(f, y) -> error`` that is reported, the loss unless given. It should be smooth: its mean over new samples is
        a Gauss-Hermite sum, whose error is part of a limit's error bar.
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

    def __init__(self, label: Any, *, loss: Any, error: Any = None, is_difference: bool = False) -> None:
        error = loss if error is None else error
        for name, given in (("label", label), ("loss", loss), ("error", error)):
            if not callable(given):
                raise TypeError(
                    f"{name}: given {shown(given)}, needs a function, e.g. loss=lambda f, y: jnp.abs(f - y)"
                )
        self.label_function, self.loss_function, self.error_function = label, loss, error
        self.difference = flag("is_difference")(is_difference)

    def check(self, outputs: tuple[int, ...], teachers: tuple[int, ...]) -> None:
        """Refuse what the functions cannot take, and a wrong claim to be a difference."""
        super().check(outputs, teachers)
        if len(outputs + teachers) and sum(outputs + teachers) > max(ORDERS):
            raise ValueError(
                f"loss: given {outputs} outputs and {teachers} teachers, needs at most {max(ORDERS)} in all"
            )
        if not self.difference:
            return
        if outputs != teachers:
            raise ValueError(f"is_difference: given True, but f has shape {outputs} and f_star {teachers}")
        here, there = (
            self.residual(jnp.full(outputs, 0.3 + move), jnp.full(teachers, 0.4 + move), jnp.array(0.5))
            for move in (0.0, 0.7)
        )
        if not is_traced(here) and float(jnp.max(jnp.abs(here - there))) > 1e-9:
            raise ValueError("is_difference: given True, but moving f and f_star together changes the residual")

    @property
    def is_difference(self) -> bool:
        """As given."""
        return self.difference

    def residual(self, f: Output, f_star: Teacher, noise: Scalar) -> Output:
        """Return d loss/d f."""
        return jax.grad(lambda f: self.loss_function(f, self.label_function(f_star, noise)))(f)

    def loss(self, f: Output, f_star: Teacher, noise: Scalar) -> Scalar:
        """Return the user's loss."""
        return self.loss_function(f, self.label_function(f_star, noise))

    def error(self, f: Output, f_star: Teacher, noise: Scalar) -> Scalar:
        """Return the user's error."""
        return self.error_function(f, self.label_function(f_star, noise))

    def test_error(self, moments: Moments, noise_var: Scalar) -> Scalar:
        """Return the mean error by Gauss-Hermite sums over f, f_star and the noise."""
        return gaussian_mean(self.error, moments)

    def test_error_bar(self, moments: Moments) -> Scalar:
        """Return what a coarser sum changes."""
        return jnp.abs(self.test_error(moments, jnp.zeros(())) - gaussian_mean(self.error, moments, COARSER))
