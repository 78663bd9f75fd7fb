"""What is measured of a solve: the simulation's curves and the user's observables, as coordinate averages."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...numerics.blocks import Blocks
from ...types import Observable
from ..engine.site import NodeTheta, Site
from ..engine.state import Paths

OWN = ("penalty", "norm_1", "w_squared")
"""Averages taken at the nodes, before the user's."""
SAMPLED = ("train_error", "test_error", "loss", "test_error_bar")
"""Averages of the samples side of steps, after the user's."""


@dataclass(frozen=True)
class Measure:
    """Averages over paths at a block's nodes. Two with the same functions are one static argument of the program."""

    observables: tuple[tuple[str, Observable], ...]
    sampled: bool = False  # whether the samples side is stochastic
    direct: bool = False  # whether the samples side adds its own averages, at the end: on steps

    def __call__(
        self, site: Site, block: Blocks, theta: NodeTheta, w: Float[Array, "q *outputs M"], paths: Paths
    ) -> Float[Array, "q observables"]:
        """Return the averages, one column each; of w itself where features have variances."""
        w, w_star = paths.unscaled(w), paths.unscaled(paths.w_star)
        every_output = lambda values: values.reshape(w.shape[0], -1, w.shape[-1]).sum(axis=1)
        values = [site.penalty(block.times, theta), every_output(jnp.abs(w)), every_output(w**2)]
        values += [jax.vmap(jax.vmap(f, in_axes=-1), in_axes=(0, None))(w, w_star) for _, f in self.observables]
        return paths.total(jnp.stack([value @ paths.probability for value in values], axis=1))

    @property
    def judged(self) -> tuple[str, ...]:
        """Curves that the requested accuracy is for; an error of a sampled side may jump, like 0-1 errors."""
        return ("loss" if self.sampled else "train_error", "test_error")

    @property
    def count(self) -> int:
        """Number of averages."""
        return len(OWN) + len(self.observables) + len(SAMPLED) * self.direct
