"""The scalar channel of every fixed point: w is a function of x = w* + noise, a Gaussian in each stratum of the target.

The noise has the variance tau^2 = test error / delta in all three cases of the paper: z (1 + chi_w)/delta, or
z~ R_w/delta, have it by eq. (fix_case1), (fix_case2) and (fix_case3).
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax.scipy.special import ndtr
from jaxtyping import Array, Float

from ..problem.laws import Law
from ..types import Scalar

PerStratum = Float[Array, "strata"]
NARROWEST = 1e-7
"""Least width of x, relative to its size: narrower Gaussians cannot be told from atoms in double precision."""
SMALLEST = 1e-100


class Channel(NamedTuple):
    """x in each stratum: probability, mean, standard deviation; and the mean w* = mean + share (x - mean) given x."""

    probability: PerStratum
    mean: PerStratum
    std: PerStratum
    share: PerStratum
    left_over: PerStratum  # variance of w* given x

    def pdf(self, x: Float[Array, "*points"]) -> Float[Array, "*points"]:
        """Return the density of x."""
        u = (x.reshape(-1, 1) - self.mean[None]) / self.std[None]
        height = self.probability / (jnp.sqrt(2.0 * jnp.pi) * self.std)
        return (jnp.exp(-0.5 * u**2) @ height).reshape(x.shape)

    def above(self, x: Scalar) -> PerStratum:
        """Return P(X > x) in each stratum."""
        return ndtr((self.mean - x) / self.std)

    def below(self, x: Scalar) -> PerStratum:
        """Return P(X < x) in each stratum."""
        return ndtr((x - self.mean) / self.std)


def make_channel(law: Law, noise_std: Scalar) -> Channel:
    """Return the channel of a target."""
    probability, mean, std = law.strata()
    variance = std**2 + noise_std**2
    floor = (NARROWEST * mean) ** 2 + SMALLEST**2
    safe = jnp.maximum(variance, floor)
    return Channel(probability, mean, jnp.sqrt(safe), std**2 / safe, std**2 * noise_std**2 / safe)
