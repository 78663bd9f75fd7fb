"""The base class of models, and the gradient of a row-wise reparametrisation."""

import abc
from collections.abc import Callable

import jax

from ...types import Normals, Output, Scalar, Teacher, Theta
from ..noun import Noun


class Model(Noun):
    """A row-wise model: every coordinate has its own parameters theta and moves by its own gradient g.

    The methods see one coordinate. ``theta`` is an array of shape ``()`` for one parameter or ``(k,)`` for k; ``t`` is
    the time. A model with c outputs, like a committee of c units, returns c weights and sees c gradients. This is the
    class of flows of the paper's eq. (flow_general), with w_t = `weight` and p_t = `drift`.

    A subclass gives `num_normals`, `init`, `weight`, `drift` and `penalty`.
    """

    @property
    @abc.abstractmethod
    def num_normals(self) -> int:
        """How many standard normals the start of a coordinate is made from; 0 for a start that is not random."""

    @abc.abstractmethod
    def init(self, normals: Normals, w_star: Teacher) -> Theta:
        """Return theta(0) as a function of standard normals and the target.

        Normals and not a key: the simulator draws them at random, the solver takes quasi-random ones with matched
        moments, and both use this one definition.
        """

    @abc.abstractmethod
    def weight(self, t: Scalar, theta: Theta) -> Output:
        """Return the weight w_t(theta)."""

    @abc.abstractmethod
    def drift(self, t: Scalar, theta: Theta, g: Output) -> Theta:
        """Return the velocity p_t(g, theta), where g = d dL/dw is the scaled gradient."""

    @abc.abstractmethod
    def penalty(self, t: Scalar, theta: Theta) -> Scalar:
        """Return the coordinate's part of the regulariser; its mean over coordinates is added to the loss."""


def gradient_drift(
    weight: Callable[[Theta], Output], theta: Theta, g: Output, *, weight_decay: Scalar, rate: Scalar | float
) -> Theta:
    """``-rate (w'(theta) g + weight_decay theta)``: gradient descent on the loss, by automatic differentiation."""
    _, pull_back = jax.vjp(weight, theta)
    return -rate * (pull_back(g)[0] + weight_decay * theta)
