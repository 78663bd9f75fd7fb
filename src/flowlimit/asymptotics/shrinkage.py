"""How w(infinity) follows from its channel x = w* + noise: the proximal operators of the paper's three penalties.

A fixed point, state evolution, message passing and a finite-size minimiser with one of these speak of the same problem.
"""

import abc
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..numerics.proximal import mirror_threshold, soft_threshold
from ..numerics.stable import scaled_cosh, scaled_sinh
from ..types import Scalar
from .case import Case
from .channel import Channel
from .nodes import law_nodes
from .soft_moments import active_share, mean_square

Points = Float[Array, "*points"]
Strength = Scalar | Points


class ShrunkMoments(NamedTuple):
    """Averages over the channel: E[s (w - w*)^2], E[dw/dx], and 1 - E[dw/dx] without cancellation."""

    error: Scalar
    slope: Scalar
    deficit: Scalar


class Shrinkage(eqx.Module):
    """A proximal operator eta(x; t) with its Gaussian averages; of features of variance s it is eta(x; t/s)."""

    @abc.abstractmethod
    def shrink(self, x: Points, strength: Strength) -> Points:
        """Return w = eta(x; t)."""

    @abc.abstractmethod
    def slope(self, x: Points, strength: Strength) -> Points:
        """Return d eta(x; t)/dx."""

    @abc.abstractmethod
    def moments(self, channel: Channel, strength: Scalar, *, rough: bool = False) -> ShrunkMoments:
        """Return averages over the channel; rough ones, to a thousandth or so, may cost less."""


class SoftThreshold(Shrinkage):
    """Of J(w) = |w|: case (i), weight decay > 0."""

    def shrink(self, x: Points, strength: Strength) -> Points:
        """Shrink by the strength, down to 0."""
        return soft_threshold(x, strength)

    def slope(self, x: Points, strength: Strength) -> Points:
        """Return 1 above the threshold, 0 below."""
        return (jnp.abs(x) > strength).astype(x.dtype)

    def moments(self, channel: Channel, strength: Scalar, *, rough: bool = False) -> ShrunkMoments:
        """Return closed forms."""
        active = active_share(channel, strength)
        return ShrunkMoments(mean_square(channel, strength), active, 1.0 - active)


class NoShrinkage(Shrinkage):
    """Of no penalty: case (ii)."""

    def shrink(self, x: Points, strength: Strength) -> Points:
        """Return x."""
        return x

    def slope(self, x: Points, strength: Strength) -> Points:
        """Return 1."""
        return jnp.ones_like(x)

    def moments(self, channel: Channel, strength: Scalar, *, rough: bool = False) -> ShrunkMoments:
        """Return the noise's variance, that of w^ for each of the features."""
        zero = jnp.zeros(())
        return ShrunkMoments(mean_square(channel, zero), zero + 1.0, zero)


class MirrorThreshold(Shrinkage):
    """Of J(w) = w asinh(w/alpha^2) - sqrt(w^2 + alpha^4) + alpha^2: case (iii)."""

    log_scale: Float[Array, "*dim"]  # log alpha^2

    def shrink(self, x: Points, strength: Strength) -> Points:
        """Return w with w + strength asinh(w/alpha^2) = x."""
        return scaled_sinh(self.log_scale, mirror_threshold(x, self.log_scale, strength))

    def slope(self, x: Points, strength: Strength) -> Points:
        """Return 1/(1 + strength/sqrt(w^2 + alpha^4))."""
        root = scaled_cosh(self.log_scale, mirror_threshold(x, self.log_scale, strength))
        return root / (root + strength)

    def moments(self, channel: Channel, strength: Scalar, *, rough: bool = False) -> ShrunkMoments:
        """Return quadratures over the law of w."""
        nodes = law_nodes(channel, self.log_scale, strength, rough=rough)
        left_over = channel.probability @ (channel.variance * channel.left_over)
        error = nodes.mean(nodes.variance * nodes.from_target**2) + left_over
        total = nodes.speed + strength
        return ShrunkMoments(error, nodes.mean(nodes.speed / total), nodes.mean(strength / total))


def make_shrinkage(case: Case, log_scale: Float[Array, "*dim"]) -> Shrinkage:
    """Return the proximal operator behind a case; log alpha^2 may vary over the coordinates of a data set."""
    if case == "lasso":
        return SoftThreshold()
    return MirrorThreshold(log_scale) if case == "interpolating" else NoShrinkage()
