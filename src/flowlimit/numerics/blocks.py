"""Time in blocks of nodes, and integration as a matrix.

A block of q nodes has times t_i, weights ω_i (the integral over the whole block) and an inner operator: for values p_j
at the nodes, ``inner @ p`` is the integral from the block's left end to each node. Over all blocks, integration is the
block lower triangular operator S: inner on the diagonal, the weights of earlier blocks to its left. Two kinds:

- *panels*: Gauss nodes, exact for polynomials of degree q - 1: a gradient flow to spectral accuracy, or, where they sum
  over steps instead of integrating, gradient descent;
- *steps*: one node per block, inner 0, weight the step size: gradient descent itself, with no error in time.

A panel that sums goes from half a step before its first step to half a step after its last one.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from .gauss import gauss_rule

Edges = Float[np.ndarray, "_"]
AT_ONCE = 4096
"""Times that are interpolated together."""


class Blocks(eqx.Module):
    """Blocks of nodes. Rows are blocks, so that ``jax.tree.map(lambda x: x[k], blocks)`` is block k."""

    times: Float[Array, "*blocks nodes"]
    inner: Float[Array, "*blocks nodes nodes"]
    weights: Float[Array, "*blocks nodes"]


def step_counts(edges: Edges, step: float) -> Float[np.ndarray, "_"]:
    """Return how many steps each panel sums over: infinitely many, that is an integral, where the step is 0."""
    lengths = np.diff(edges)
    return np.rint(lengths / step) if step else np.full(len(lengths), np.inf)


def panels(edges: Edges, order: int, step: float = 0.0) -> Blocks:
    """Return panels between given edges, which integrate, or sum over steps of a given size."""
    lengths = np.diff(edges)
    rules = [gauss_rule(order, float(count)) for count in step_counts(edges, step)]
    gather = lambda name: np.stack([getattr(rule, name) for rule in rules])
    times, inner = edges[:-1, None] + lengths[:, None] * gather("nodes"), lengths[:, None, None] * gather("inner")
    # put as they are: `asarray` would compile a program for every number of panels
    return Blocks(*map(jax.device_put, (times, inner, lengths[:, None] * gather("weights"))))


def steps(sizes: Float[Array, "count"]) -> Blocks:
    """Return steps of given sizes, each a block of one node, at the sum of the sizes before it."""
    times = jnp.concatenate([jnp.zeros(1), jnp.cumsum(sizes)[:-1]])
    return Blocks(times[:, None], jnp.zeros((len(sizes), 1, 1)), sizes[:, None])


def integration(blocks: Blocks) -> Float[np.ndarray, "all all"]:
    """Return the whole operator S."""
    inner, weights = np.asarray(blocks.inner), np.asarray(blocks.weights)
    count, order = weights.shape
    S = np.zeros((count * order, count * order))
    for k in range(count):
        own = slice(k * order, (k + 1) * order)
        S[own, own] = inner[k]
        S[own.stop :, own] = weights[k]
    return S


def panels_of(edges: Edges, wanted: Float[np.ndarray, "wanted"]) -> Int[np.ndarray, "wanted"]:
    """Return which panel each time lies in; an edge belongs to the panel that it ends."""
    return np.clip(np.searchsorted(edges, wanted, side="left") - 1, 0, len(edges) - 2)


class Interpolation(NamedTuple):
    """Polynomials in panels at wanted times: the panel of each, and its row of the matrix from the panel's nodes."""

    panel: Int[np.ndarray, "wanted"]
    rows: Float[np.ndarray, "wanted order"]

    def dense(self, count: int) -> Float[np.ndarray, "wanted all"]:
        """Return the matrix from all nodes of ``count`` panels."""
        wanted, order = self.rows.shape
        matrix = np.zeros((wanted, count, order))
        matrix[np.arange(wanted), self.panel] = self.rows
        return matrix.reshape(wanted, count * order)

    def apply(
        self, function: Callable[[Float[np.ndarray, "some columns"]], np.ndarray], values: Float[np.ndarray, "all _"]
    ) -> np.ndarray:
        """Return a function of the values at wanted times, row by row, without ever having all of them at once."""
        found = [function(np.zeros((0, values.shape[1])))]
        for k in np.unique(self.panel):
            own, order = np.flatnonzero(self.panel == k), self.rows.shape[1]
            for part in np.array_split(own, -(-len(own) // AT_ONCE)):
                found.append(function(self.rows[part] @ values[k * order : (k + 1) * order]))
        return np.concatenate(found)


def interpolation(edges: Edges, order: int, wanted: Float[np.ndarray, "wanted"], step: float = 0.0) -> Interpolation:
    """Return how values at given times, ascending, follow from nodal values on panels, polynomial in each."""
    panel, lengths, counts = panels_of(edges, wanted), np.diff(edges), step_counts(edges, step)
    rows = np.zeros((len(wanted), order))
    for k in np.unique(panel):
        own = panel == k
        rows[own] = gauss_rule(order, float(counts[k])).at((wanted[own] - edges[k]) / lengths[k])
    return Interpolation(panel, rows)
