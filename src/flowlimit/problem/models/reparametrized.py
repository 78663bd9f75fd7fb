"""Any reparametrisation w(theta), trained by gradient descent on theta."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...types import Normals, Number, Output, Scalar, Teacher, Theta
from ..checks import as_float, check_entries, integer, number, shown
from ..laws import DRAW_NORMALS, Law
from .model import Model, gradient_drift

MOST_NORMALS = 1000
"""Of one coordinate; quasi-random points have a dimension for each."""
Start = Callable[[Any, Any], Any]


class Reparametrized(Model):
    """Model from a function w(theta), with theta' = -rate (w'(theta) g + weight_decay theta).

    Parameters
    ----------
    weight
        ``theta -> w`` for one coordinate; c numbers for a model with c outputs.
    init
        Theta of every coordinate at time 0: a number, the k numbers of theta, a law, or a function
        ``(normals, w_star) -> theta`` of ``num_normals`` standard normals and the target.
    weight_decay, rate
        Of the drift; rate 1 gives `Linear` for ``weight=lambda theta: theta``, rate 1/2 the diagonal network.
    num_normals
        How many normals a function ``init`` takes.

    Examples
    --------
    >>> import flowlimit as fl
    >>> import jax.numpy as jnp
    >>> cubic = fl.Reparametrized(weight=lambda theta: theta**3, init=0.5)
    >>> theta = cubic.init(jnp.zeros(0), jnp.array(1.0))
    >>> float(cubic.weight(jnp.array(0.0), theta))
    0.125
    """

    weight_function: Callable[[Any], Any] = eqx.field(static=True, metadata={"argument": "weight"})
    start_function: Start | None = eqx.field(static=True, metadata={"argument": "init"})
    start: Law | Float[Array, "..."] | None = eqx.field(metadata={"argument": "init"})
    weight_decay: Scalar
    rate: Scalar
    start_normals: int = eqx.field(static=True, metadata={"argument": "num_normals"})

    def __init__(
        self,
        weight: Any,
        *,
        init: Any,
        weight_decay: Number = 0.0,
        rate: Number = 1.0,
        num_normals: int = 1,  # of a function init
    ) -> None:
        if not callable(weight):
            raise TypeError(f"weight: given {shown(weight)}, needs a function, e.g. weight=lambda theta: theta**3")
        self.weight_function = weight
        self.weight_decay = number("weight_decay", at_least=0.0, example=0.1)(weight_decay)
        self.rate = number("rate", above=0.0)(rate)
        if isinstance(init, Law):
            self.start_function, self.start, self.start_normals = None, init, DRAW_NORMALS
        elif callable(init):
            self.start_function, self.start = init, None
            self.start_normals = integer("num_normals", at_least=0, at_most=MOST_NORMALS, example=1)(num_normals)
        else:
            self.start_function, self.start, self.start_normals = None, _numbers(init), 0

    @property
    def num_normals(self) -> int:
        """As given, or what the law of the initialisation takes."""
        return self.start_normals

    def init(self, normals: Normals, w_star: Teacher) -> Theta:
        """Start as the user says."""
        if self.start_function is not None:
            return jnp.asarray(self.start_function(normals, w_star), dtype=jnp.float64)
        return self.start.draw(normals) if isinstance(self.start, Law) else jnp.asarray(self.start)

    def weight(self, t: Scalar, theta: Theta) -> Output:
        """Return the user's w(theta)."""
        return self.weight_function(theta)

    def drift(self, t: Scalar, theta: Theta, g: Output) -> Theta:
        """Descend the gradient by automatic differentiation."""
        return gradient_drift(self.weight_function, theta, g, weight_decay=self.weight_decay, rate=self.rate)

    def penalty(self, t: Scalar, theta: Theta) -> Scalar:
        """Return ``weight_decay |theta|^2 / 2``."""
        return 0.5 * self.weight_decay * jnp.sum(theta**2)


def _numbers(value: Any) -> Float[Array, "..."]:
    fix = "needs a number, the k numbers of theta, a law or a function (normals, w_star) -> theta, e.g. init=0.5"
    array = as_float("init", value, fix)
    if array.ndim > 1 or not array.size:
        raise ValueError(f"init: given shape {array.shape}, {fix}")
    check_entries("init", array, fix)
    return array
