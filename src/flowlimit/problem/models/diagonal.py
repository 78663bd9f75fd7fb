"""Diagonal linear networks, eq. (dln), of any depth, truncated or not; and depth 2 in its mirror coordinate.

Parameters are theta = (u, v) with w = (u^L - v^L)/L and u' = -(1/2)(weight_decay u + u^{L-1} g), v' likewise with -g.
At depth 2 the flow conserves u v e^{weight_decay t}, so one coordinate is enough:

    w = alpha^2 e^{-weight_decay t} sinh(theta),    theta' = -g.

Tiny and huge init scales are then harmless. A finite step changes u v, so gradient descent always runs in (u, v).
"""

from dataclasses import KW_ONLY

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...numerics.stable import power_difference, scaled_cosh, scaled_sinh, truncate
from ...types import Normals, Scalar, Theta, is_traced
from ..checks import integer, number, optional_number
from .model import Model, gradient_drift
from .scales import Scale, as_scale, draw_scale, fixed_scale, scale_normals

MOST_LAYERS = 64
"""Programs grow with the depth, and rates at time 0, alpha^(2L-2), leave double precision."""
MOST_DECADES = 300.0
RATE = 0.5  # eq. (df_dln): the flow is (d/2) times the gradient


class DiagonalLinear(Model):
    """Diagonal linear network of the given depth L, initialised at u = v = init_scale.

    Parameters
    ----------
    init_scale
        The paper's alpha, above 0. A law draws it anew for every coordinate; an array gives it coordinate by coordinate
        and needs a `Dataset` of that dim.
    weight_decay
        The paper's lambda, of the penalty ``(lambda / 2d)(|u|^2 + |v|^2)``.
    depth
        Number of layers L, from 2 to 64.
    truncation
        The bound M of the truncated network, w = (eta_M(u^L) - eta_M(v^L))/L; None for no truncation.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.DiagonalLinear(init_scale=0.3, weight_decay=0.1)
    DiagonalLinear(init_scale=0.3, weight_decay=0.1)
    """

    init_scale: Scale = eqx.field(converter=as_scale)
    _: KW_ONLY
    weight_decay: Scalar = eqx.field(default=0.0, converter=number("weight_decay", at_least=0.0, example=0.1))
    depth: int = eqx.field(
        default=2, static=True, converter=integer("depth", at_least=2, at_most=MOST_LAYERS, example=2)
    )
    truncation: Scalar | None = eqx.field(default=None, converter=optional_number("truncation", above=0.0))

    def __check_init__(self) -> None:
        scale = fixed_scale(self.init_scale)
        if scale is None or is_traced(scale):
            return
        power = max(4, 2 * self.depth - 2)
        outside = np.asarray(scale)[np.abs(np.log10(np.asarray(scale))) * power > MOST_DECADES]
        if outside.size:
            least = 10.0 ** (-MOST_DECADES / power)
            raise ValueError(
                f"init_scale: given {outside.flat[0]:g}, whose power {power} leaves double precision; a network of "
                f"depth {self.depth} needs one from {least:.2g} to {1.0 / least:.2g}"
            )

    @property
    def num_normals(self) -> int:
        """Two if the init scale is a law, else none."""
        return scale_normals(self.init_scale)

    def init(self, normals: Normals, w_star: Scalar) -> Theta:
        """Return u = v = init_scale."""
        scale = draw_scale(self.init_scale, normals)
        return jnp.stack([scale, scale])

    def weight(self, t: Scalar, theta: Theta) -> Scalar:
        """Return (u^L - v^L)/L, each power truncated if asked for."""
        u, v = theta[0], theta[1]
        if self.truncation is None:
            return power_difference(u, v, self.depth) / self.depth
        return (truncate(u**self.depth, self.truncation) - truncate(v**self.depth, self.truncation)) / self.depth

    def drift(self, t: Scalar, theta: Theta, g: Scalar) -> Theta:
        """Return the paper's p_u, p_v (truncated section, with its signs mended)."""
        return gradient_drift(lambda x: self.weight(t, x), theta, g, weight_decay=self.weight_decay, rate=RATE)

    def penalty(self, t: Scalar, theta: Theta) -> Scalar:
        """Return weight_decay (u^2 + v^2) / 2."""
        return 0.5 * self.weight_decay * jnp.sum(theta**2)

    def flow_form(self) -> Model:
        """Return the network in its mirror coordinate at depth 2; itself at other depths, or if it is truncated."""
        if self.diagonal_form() is None:
            return self
        if isinstance(self.init_scale, jax.Array):
            return MirrorDiagonal(self.init_scale, self.weight_decay)
        return MirrorDiagonalVaried(self.init_scale, self.weight_decay)

    def diagonal_form(self) -> "DiagonalLinear | None":
        """Return itself at depth 2 without truncation."""
        return self if self.depth == 2 and self.truncation is None else None

    def fixed_scale(self) -> Float[Array, "*dim"] | None:
        """Return the init scale, of shape ``()`` or ``(dim,)``; None if it is a law."""
        return fixed_scale(self.init_scale)


class MirrorDiagonal(Model):
    """The depth-2 network's flow in its mirror coordinate, one parameter per coordinate."""

    init_scale: Scalar
    weight_decay: Scalar

    @property
    def num_normals(self) -> int:
        """None: the initialisation is not random."""
        return 0

    def init(self, normals: Normals, w_star: Scalar) -> Theta:
        """Return the state with w = 0."""
        return jnp.zeros_like(w_star)

    def weight(self, t: Scalar, theta: Theta) -> Scalar:
        """Return alpha^2 e^{-lambda t} sinh(theta)."""
        return scaled_sinh(self._log_scale(t), theta)

    def drift(self, t: Scalar, theta: Theta, g: Scalar) -> Theta:
        """Descend the gradient."""
        return -g

    def penalty(self, t: Scalar, theta: Theta) -> Scalar:
        """Return lambda (u^2 + v^2)/2 = lambda alpha^2 e^{-lambda t} cosh(theta)."""
        return self.weight_decay * scaled_cosh(self._log_scale(t), theta)

    def _log_scale(self, t: Scalar) -> Scalar:
        return 2.0 * jnp.log(self.init_scale) - self.weight_decay * t


class MirrorDiagonalVaried(Model):
    """The same for init scales that vary: log(alpha^2) rides along as a second parameter that does not move."""

    init_scale: Scale
    weight_decay: Scalar

    @property
    def num_normals(self) -> int:
        """Two if the init scale is a law, else none."""
        return scale_normals(self.init_scale)

    def init(self, normals: Normals, w_star: Scalar) -> Theta:
        """Return the state with w = 0 and this coordinate's scale."""
        return jnp.stack([jnp.zeros_like(w_star), 2.0 * jnp.log(jnp.abs(draw_scale(self.init_scale, normals)))])

    def weight(self, t: Scalar, theta: Theta) -> Scalar:
        """Return alpha^2 e^{-lambda t} sinh(theta)."""
        return scaled_sinh(theta[1] - self.weight_decay * t, theta[0])

    def drift(self, t: Scalar, theta: Theta, g: Scalar) -> Theta:
        """Descend the gradient."""
        return jnp.stack([-g, jnp.zeros_like(g)])

    def penalty(self, t: Scalar, theta: Theta) -> Scalar:
        """Return lambda (u^2 + v^2)/2."""
        return self.weight_decay * scaled_cosh(theta[1] - self.weight_decay * t, theta[0])
