"""The scalar channel of every fixed point: w is a function of x = w* + noise, a Gaussian in each stratum of the target.

The noise has the variance tau^2 = test error / delta in all three cases of the paper: z (1 + chi_w)/delta, or
z~ R_w/delta, have it by eq. (fix_case1), (fix_case2) and (fix_case3). Features of variance s are plain ones of
w^ = sqrt(s) w: there the noise of w has the standard deviation tau/sqrt(s), and w minimises s (w - x)^2/2 plus its
penalty times the strength t, so that it is shrunk by t/s. Errors are those of w^.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax.scipy.special import ndtr
from jaxtyping import Array, Float

from ..problem.features import FeatureLaw
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
    variance: PerStratum  # of the features

    @property
    def pull(self) -> "Channel":
        """The law of s x, by which data pull at w = 0."""
        s = self.variance
        return Channel(self.probability, s * self.mean, s * self.std, self.share, s**2 * self.left_over, s)

    def pdf(self, x: Float[Array, "*points"]) -> Float[Array, "*points"]:
        """Return the density of x."""
        return self.density_at(jnp.repeat(x.reshape(-1, 1), len(self.mean), axis=1)).sum(axis=1).reshape(x.shape)

    def density_at(self, x: Float[Array, "points strata"]) -> Float[Array, "points strata"]:
        """Return the density at a point for each stratum, times the stratum's probability."""
        u = (x - self.mean[None]) / self.std[None]
        return (self.probability / (jnp.sqrt(2.0 * jnp.pi) * self.std))[None] * jnp.exp(-0.5 * u**2)

    def above(self, x: Scalar | PerStratum) -> PerStratum:
        """Return P(X > x) in each stratum."""
        return ndtr((self.mean - x) / self.std)

    def below(self, x: Scalar | PerStratum) -> PerStratum:
        """Return P(X < x) in each stratum."""
        return ndtr((x - self.mean) / self.std)


def make_channel(law: Law | FeatureLaw, noise_std: Scalar) -> Channel:
    """Return the channel of a target; ``noise_std`` is tau, of a feature of variance 1."""
    (probability, mean, std), s = law.strata(), law.variances()
    noise_var = noise_std**2 / s
    variance = std**2 + noise_var
    floor = (NARROWEST * mean) ** 2 + SMALLEST**2
    safe = jnp.maximum(variance, floor)
    return Channel(probability, mean, jnp.sqrt(safe), std**2 / safe, std**2 * noise_var / safe, s)
