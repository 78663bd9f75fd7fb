"""Draws whose composition is that of their law: every stratum has its share of the draws, every normal its cell.

Plain draws of a mixture have a few members of each stratum too many or too few, by chance. Here a stratum of
probability p has floor(p count) or the next integer of them, with mean p count; which draw is in which stratum is a
random permutation. Each draw still has the law itself.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..types import PRNGKey

Strata = Int[Array, "count"]


def balanced_strata(key: PRNGKey, probability: Float[Array, "strata"], count: int) -> Strata:
    """Return the stratum of each of ``count`` draws, in random order: systematic sampling, with one random offset.

    Examples
    --------
    >>> from flowlimit.numerics.streams import as_key
    >>> drawn = balanced_strata(as_key(0), jnp.array([0.75, 0.25]), 1000)
    >>> jnp.bincount(drawn).tolist()
    [750, 250]
    """
    offset, order = jax.random.split(key)
    points = (jnp.arange(count) + jax.random.uniform(offset)) / count
    # The last edge is left out: rounding in the sum must not open a stratum beyond the last.
    return jax.random.permutation(order, jnp.searchsorted(jnp.cumsum(probability)[:-1], points, side="right"))


def balanced_normals(key: PRNGKey, strata: Strata, columns: int) -> Float[Array, "count columns"]:
    """Return standard normals, in each column one per cell: the m draws of a stratum have m cells of probability 1/m.

    The places of the cells are random and differ between columns; within its cell a number is drawn by chance.

    Examples
    --------
    >>> from flowlimit.numerics.streams import as_key
    >>> normals = balanced_normals(as_key(0), jnp.zeros(1000, dtype=int), 2)
    >>> bool(jnp.all(jnp.abs(jnp.mean(normals**2, axis=0) - 1.0) < 0.01))
    True
    """
    count, ascending = strata.shape[0], jnp.sort(strata)
    first, after = (jnp.searchsorted(ascending, strata, side=side) for side in ("left", "right"))

    def column(key: PRNGKey) -> Float[Array, "count"]:
        order, inside = jax.random.uniform(key, (2, count))
        rank = jnp.argsort(jnp.lexsort((order, strata)))
        uniform = (rank - first + inside) / (after - first)
        return jax.scipy.special.ndtri(jnp.clip(uniform, jnp.finfo(float).tiny, 1.0 - jnp.finfo(float).eps))

    if not columns:
        return jnp.zeros((count, 0))
    return jax.vmap(column, out_axes=1)(jax.random.split(key, columns))
