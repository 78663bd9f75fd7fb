"""Rows of X over devices that share a trial: each has its own samples, and sums over samples are all-reduces."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from ..types import Scalar

AXIS = "row"


@dataclass(frozen=True)
class Rows:
    """All ``samples``, or the part of them that one of several devices has: the same number each, so some are empty.

    Empty rows are 0 in X, so that they do not move anything; means leave them out.
    """

    samples: int
    parts: int = 1

    @property
    def own(self) -> int:
        """Number of rows on a device."""
        return -(-self.samples // self.parts)

    @property
    def first(self) -> Int[Array, ""]:
        """The first row of this device."""
        return jnp.zeros((), int) if self.parts == 1 else lax.axis_index(AXIS) * self.own

    @property
    def live(self) -> Bool[Array, "own"]:
        """Which rows of this device are samples."""
        return self.first + jnp.arange(self.own) < self.samples

    def take(self, every: Float[Array, "samples"]) -> Float[Array, "own"]:
        """Return this device's part of numbers that all samples have, with 0 for empty rows."""
        if self.parts == 1:
            return every
        padded = jnp.pad(every, (0, self.parts * self.own - self.samples))
        return lax.dynamic_slice_in_dim(padded, self.first, self.own)

    def total(self, sums: Any) -> Any:
        """Return sums over all samples from those over a device's own."""
        return sums if self.parts == 1 else lax.psum(sums, AXIS)

    def mean(self, values: Float[Array, "*_ own"]) -> Scalar:
        """Return the mean over all samples and over what else there is."""
        if self.parts == 1:
            return jnp.mean(values)
        live = jnp.broadcast_to(self.live, values.shape)
        number = self.samples * (values.size // self.own)
        return self.total(jnp.sum(jnp.where(live, values, 0.0))) / number
