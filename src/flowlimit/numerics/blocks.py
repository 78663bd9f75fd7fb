"""Time in blocks of nodes, and integration as a matrix.

A block of q nodes has times t_i, weights ω_i (the integral over the whole block) and an inner operator: for values p_j
at the nodes, ``inner @ p`` is the integral from the block's left end to each node. Over all blocks, integration is the
block lower triangular operator S: inner on the diagonal, the weights of earlier blocks to its left. Two kinds:

- *panels*: Gauss-Legendre nodes, exact for polynomials of degree q - 1: a gradient flow to spectral accuracy;
- *steps*: one node per block, inner 0, weight the step size: gradient descent itself, with no error in time.
"""

from functools import lru_cache
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from numpy.polynomial import legendre

Edges = Float[np.ndarray, "_"]


class Blocks(eqx.Module):
    """Blocks of nodes. Rows are blocks, so that ``jax.tree.map(lambda x: x[k], blocks)`` is block k."""

    times: Float[Array, "*blocks nodes"]
    inner: Float[Array, "*blocks nodes nodes"]
    weights: Float[Array, "*blocks nodes"]


class Rule(NamedTuple):
    """Gauss-Legendre collocation on the unit interval."""

    nodes: Float[np.ndarray, "nodes"]
    weights: Float[np.ndarray, "nodes"]
    inner: Float[np.ndarray, "nodes nodes"]
    transform: Float[np.ndarray, "nodes nodes"]  # nodal values -> Legendre coefficients


@lru_cache
def gauss_rule(order: int) -> Rule:
    """Return the collocation rule with ``order`` nodes.

    Examples
    --------
    >>> rule = gauss_rule(4)
    >>> bool(np.allclose(rule.inner @ rule.nodes**3, rule.nodes**4 / 4))
    True
    """
    x, weights = legendre.leggauss(order)
    degrees = np.arange(order)
    # Discrete orthogonality: c_n = (2n + 1)/2 sum_i w_i P_n(x_i) f(x_i), exact for polynomials of degree order - 1.
    transform = (degrees[:, None] + 0.5) * legendre.legvander(x, order - 1).T * weights
    # Integral of P_n from -1: (P_{n+1} - P_{n-1})/(2n + 1), and P_1 + 1 for n = 0.
    higher = legendre.legvander(x, order)
    lower = np.c_[-np.ones(order), higher[:, : order - 1]]
    integral = (higher[:, 1:] - lower) / (2 * degrees + 1)
    return Rule((x + 1) / 2, weights / 2, integral @ transform / 2, transform)


def panels(edges: Edges, order: int) -> Blocks:
    """Return Gauss-Legendre panels between given edges."""
    rule, lengths = gauss_rule(order), np.diff(edges)
    times, inner = edges[:-1, None] + lengths[:, None] * rule.nodes, lengths[:, None, None] * rule.inner
    # put as they are: `asarray` would compile a program for every number of panels
    return Blocks(*map(jax.device_put, (times, inner, lengths[:, None] * rule.weights)))


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


def interpolation(edges: Edges, order: int, wanted: Float[np.ndarray, "wanted"]) -> Float[np.ndarray, "wanted all"]:
    """Return the matrix from nodal values on panels to values at given times, polynomial in each panel."""
    rule, count = gauss_rule(order), len(edges) - 1
    panel = panels_of(edges, wanted)
    local = 2.0 * (wanted - edges[panel]) / np.diff(edges)[panel] - 1.0
    matrix = np.zeros((len(wanted), count, order))
    matrix[np.arange(len(wanted)), panel] = legendre.legvander(local, order - 1) @ rule.transform
    return matrix.reshape(len(wanted), count * order)
