"""Quadrature over the law of w(infinity) of a network without weight decay, in y = asinh(w/alpha^2).

There x = w + R_w asinh(w/alpha^2) = alpha^2 sinh(y) + R_w y, so the density of y is known in closed form, and all of it
is smooth on the scale of 1 or of the Gaussian, for any init scale: no inverse function, no kinks.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from ..numerics.proximal import mirror_threshold
from ..numerics.stable import scaled_cosh, scaled_sinh
from ..types import Scalar
from .channel import Channel, PerStratum

SIGMAS, EVEN_PANELS, ORDER, ROUGH_ORDER = 9.0, 24, 12, 4
GRADED = np.concatenate([[0.0], 10.0 ** np.arange(-3.0, 0.25, 0.5), np.arange(3.0, 48.0, 3.0)])
"""Edges of panels in |y|, besides even ones over each stratum: rates have poles close to y = 0 at small init scales."""


class LawNodes(NamedTuple):
    """Nodes of w, of sqrt(w^2 + alpha^4), and weights; a row a stratum, weights of a row sum to its probability."""

    w: Float[Array, "strata nodes"]
    root: Float[Array, "strata nodes"]
    from_target: Float[Array, "strata nodes"]  # w - E[w*|x]
    weights: Float[Array, "strata nodes"]
    variance: Float[Array, "strata 1"]  # of the features

    @property
    def speed(self) -> Float[Array, "strata nodes"]:
        """How fast sqrt(s) w answers to a gradient, y = s sqrt(w^2 + alpha^4)."""
        return self.variance * self.root

    def mean(self, values: Float[Array, "strata nodes"]) -> Scalar:
        """Return the average of a function of w."""
        return jnp.sum(self.weights * values)


def law_nodes(channel: Channel, log_scale: Scalar, strength: Scalar, *, rough: bool = False) -> LawNodes:
    """Return nodes for w + strength/s asinh(w/e^log_scale) = x; rough ones give moments to a thousandth or so."""
    own = strength / channel.variance
    y, step = _composite(channel, log_scale, own, rough=rough)
    w, root = scaled_sinh(log_scale, y), scaled_cosh(log_scale, y)
    (p, m, s, share, _, variance), own = (part[:, None] for part in channel), own[:, None]
    away = w + own * y - m
    weights = p * step * (root + own) * jnp.exp(-0.5 * (away / s) ** 2) / (jnp.sqrt(2.0 * jnp.pi) * s)
    return LawNodes(w, root, w - m - share * away, weights, variance)


def _composite(
    channel: Channel, log_scale: Scalar, strength: PerStratum, *, rough: bool
) -> tuple[Float[Array, "strata nodes"], Float[Array, "strata nodes"]]:
    """Return Gauss-Legendre nodes and weights on panels; the ends do not matter, so they are not differentiated."""
    ends = channel.mean[None] + SIGMAS * channel.std[None] * jnp.array([[-1.0], [1.0]])
    low, high = lax.stop_gradient(mirror_threshold(ends, log_scale, strength[None]))[:, :, None]
    edges = low + (high - low) * jnp.linspace(0.0, 1.0, EVEN_PANELS + 1)[None]
    if not rough:
        graded = jnp.clip(jnp.asarray(np.concatenate([-GRADED, GRADED]))[None], low, high)
        edges = jnp.sort(jnp.concatenate([edges, graded], axis=1), axis=1)
    nodes, weights = (
        jnp.asarray(x)[None, None] for x in np.polynomial.legendre.leggauss(ROUGH_ORDER if rough else ORDER)
    )
    middle, half = (edges[:, 1:] + edges[:, :-1]) / 2.0, (edges[:, 1:] - edges[:, :-1]) / 2.0
    flat = lambda x: x.reshape(x.shape[0], -1)
    return flat(middle[:, :, None] + half[:, :, None] * nodes), flat(half[:, :, None] * weights)
