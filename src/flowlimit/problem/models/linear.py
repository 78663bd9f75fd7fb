"""Plain linear regression: the weight is the parameter."""

from dataclasses import KW_ONLY

import equinox as eqx
import jax.numpy as jnp

from ...types import Normals, Scalar, Theta
from ..checks import number
from .model import Model


class Linear(Model):
    """Linear model, w' = -(g + weight_decay w), from w(0) = init_overlap w* + init_scale N(0, 1).

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.Linear(weight_decay=0.1, init_scale=1.0)
    Linear(weight_decay=0.1, init_scale=1)
    """

    weight_decay: Scalar = eqx.field(default=0.0, converter=number("weight_decay", at_least=0.0, example=0.1))
    _: KW_ONLY
    init_scale: Scalar = eqx.field(default=0.0, converter=number("init_scale", at_least=0.0))
    init_overlap: Scalar = eqx.field(default=0.0, converter=number("init_overlap", example=0.2))

    @property
    def num_normals(self) -> int:
        """One normal per coordinate."""
        return 1

    def init(self, normals: Normals, w_star: Scalar) -> Theta:
        """Start correlated with the target."""
        return self.init_overlap * w_star + self.init_scale * normals[0]

    def weight(self, t: Scalar, theta: Theta) -> Scalar:
        """Return the parameter itself."""
        return jnp.asarray(theta)

    def drift(self, t: Scalar, theta: Theta, g: Scalar) -> Theta:
        """Descend the gradient."""
        return -(g + self.weight_decay * theta)

    def penalty(self, t: Scalar, theta: Theta) -> Scalar:
        """Return weight_decay w^2 / 2."""
        return 0.5 * self.weight_decay * theta**2
