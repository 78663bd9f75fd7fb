"""The base class of models, and the gradient of a row-wise reparametrisation."""

import abc
from collections.abc import Callable
from typing import Any

import jax

from ...types import Normals, Output, Scalar, Teacher, Theta
from ..noun import Noun
from .scales import num_coordinates_of


class Model(Noun):
    """A row-wise model: every coordinate has its own parameters theta and moves by its own gradient g.

    The methods see one coordinate. ``theta`` is an array of shape ``()`` for one parameter or ``(k,)`` for k; ``t`` is
    the time. A model with c outputs, like a committee of c units, returns c weights and sees c gradients. This is the
    class of flows of the paper's eq. (flow_general), with w_t = `weight` and p_t = `drift`.

    A subclass must write five methods; shapes are those of one coordinate:

    - ``num_normals`` (property) -> int, the number of standard normals that an initialisation takes.
    - ``init(normals, w_star)`` -> theta at time 0, from normals of shape ``(num_normals,)`` and the target, of shape
      ``()``, or ``(teachers,)`` for several teachers.
    - ``weight(t, theta)`` -> the weight, of shape ``()``, or ``(c,)`` for c outputs.
    - ``drift(t, theta, g)`` -> the velocity, shaped like theta, from the gradient g, shaped like the weight.
    - ``penalty(t, theta)`` -> one number, of shape ``()``.

    It may write two more: ``flow_form``, where gradient flow is better integrated in other coordinates, and
    ``diagonal_form``, where the flow is that of a depth-2 diagonal network, so that closed forms are known.
    """

    @property
    @abc.abstractmethod
    def num_normals(self) -> int:
        """How many standard normals the initialisation of a coordinate is made from; 0 if it is not random."""

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

    def flow_form(self) -> "Model":
        """Return the model in the coordinates in which its gradient flow is best integrated; itself unless overridden.

        It must have the same weights and penalties at all times under every path of gradients, from initialisations
        that are made from the same normals. Flows are solved and simulated in this form; descent in steps, whose
        weights depend on the coordinates, never is.
        """
        return self

    def diagonal_form(self) -> Any:
        """Return the depth-2 `DiagonalLinear` whose gradient flow has the same weights, for closed forms of long times.

        None, unless overridden: no closed form is known.
        """
        return None

    @property
    def num_coordinates(self) -> int | None:
        """How many coordinates the model has numbers for, one each; None if it is the same for any number of them."""
        return num_coordinates_of(self)


def gradient_drift(
    weight: Callable[[Theta], Output], theta: Theta, g: Output, *, weight_decay: Scalar, rate: Scalar | float
) -> Theta:
    """``-rate (w'(theta) g + weight_decay theta)``: gradient descent on the loss, by automatic differentiation."""
    _, pull_back = jax.vjp(weight, theta)
    return -rate * (pull_back(g)[0] + weight_decay * theta)
