"""A history with fewer rows than steps: rows of old steps become coefficients; see `numerics.merges`.

All products of a step are with rows of a history: R_l with W and with itself, R_w with responses and with residuals,
roots with normals. Responses are smooth in old steps, so a product over coefficients in polynomials is the product over
all steps. A root is not: where nothing is random a few steps bring all innovations. There the directions that matter
are told by the rows after a block: those combinations are kept that these rows have most of.
"""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from .history import Node
from .noises import FRESH, noise_count, turn_noises
from .state import Front, Rows, SampleRows, Total

Matrix = Float[Array, "order twice"]
"""From the rows of two blocks to those of the block that they become."""


class Pair(NamedTuple):
    """Two blocks that become one: their first row, the end of the history, the matrix, and sums over devices."""

    start: Node
    end: Node
    matrix: Matrix
    total: Total


class Merging(eqx.Module):
    """The merges of a solve as its program sees them; see `numerics.merges.Merges`."""

    places: Int[Array, "steps"]
    counts: Int[Array, "steps"]
    starts: Int[Array, "steps most"]
    levels: Int[Array, "steps most"]
    matrices: Float[Array, "levels order twice"]  # rows of 0 leave these coefficients out
    rows: int = eqx.field(static=True)
    fresh: int = eqx.field(static=True, default=FRESH)  # columns for fresh noises

    @property
    def noises(self) -> int:
        """Columns that fresh noises have, and what they are turned into."""
        return noise_count(self.places.shape[0], self.rows, self.fresh)

    def noise_place(self, step: Node) -> Node:
        """Return the column of a step's fresh noise."""
        return step if self.noises == self.places.shape[0] else step % self.fresh


def merge(merging: Merging, total: Total, step: Node, front: Front, rows: Rows) -> tuple[Front, Rows]:
    """Do the merges after a step, if there are any; ``total`` sums over devices."""

    def one(i: Node, carry: tuple[Front, Rows]) -> tuple[Front, Rows]:
        start, matrix = merging.starts[step, i], merging.matrices[merging.levels[step, i]]
        end = merging.places[step] + 1 - i * len(matrix)
        return _merge_two(Pair(start, end, matrix, total), *carry)

    front, rows = lax.fori_loop(0, merging.counts[step], one, (front, rows))
    return front, turn_noises(step, merging.places.shape[0], rows, merging.fresh)


def _merge_two(pair: Pair, front: Front, rows: Rows) -> tuple[Front, Rows]:
    less, samples = partial(_merged, pair.start, pair.matrix), rows.samples
    both = lambda square: less(less(square), axis=1)
    directions = rows.Q if samples is None else samples.Q_l
    turned = partial(_merged, pair.start, _leading(pair, rows.L, directions))
    assert rows.normals is not None
    assert rows.basis is not None
    merged = replace(
        rows,
        W=less(rows.W),
        response=both(rows.response),
        Q=turned(rows.Q) if samples is None else rows.Q,
        R_w=both(rows.R_w),
        G=both(rows.G),
        L=turned(less(rows.L), axis=1),
        noises=less(rows.noises),
        normals=turned(rows.normals),
        basis=turned(rows.basis),
        samples=None if samples is None else _merge_samples(pair, samples, turned(samples.Q_l)),
    )
    return replace(front, tangent=less(front.tangent, axis=1)), merged


def _merge_samples(pair: Pair, known: SampleRows, Q_l: Float[Array, "N Ms"]) -> SampleRows:
    less = partial(_merged, pair.start, pair.matrix)
    turned = partial(_merged, pair.start, _leading(pair, known.L_w, known.Q_w))
    assert known.normals is not None
    return replace(
        known,
        residuals=less(known.residuals),
        response=less(less(known.response), axis=1),
        Q_l=Q_l,
        Q_w=turned(known.Q_w),
        L_w=turned(less(known.L_w), axis=1),
        along=less(known.along),
        normals=turned(known.normals),
    )


def _leading(pair: Pair, L: Float[Array, "N N"], Q: Float[Array, "N M"]) -> Matrix:
    """Return the combinations of two blocks' directions that the rows of a root after them have most of."""
    start, end, matrix, total = pair
    place, (order, twice) = jnp.arange(L.shape[0]), matrix.shape
    later: Bool[Array, "N"] = (place >= start + twice) & (place < end)
    size = jnp.linalg.norm(L, axis=1)
    share = jnp.where(later & (size > 0.0), 1.0 / jnp.where(size > 0.0, size, 1.0), 0.0)
    onto = share[:, None] * lax.dynamic_slice_in_dim(L, start, twice, axis=1)
    square = onto.T @ onto
    # nodes without an innovation have no direction: they are not to be mixed with those that have
    fresh = total(jnp.sum(lax.dynamic_slice_in_dim(Q, start, twice, axis=0) ** 2, axis=1)) > 0.5
    vectors = jnp.linalg.eigh(square + jnp.diag(jnp.where(fresh, 1.0 + jnp.trace(square), 0.0)))[1]
    return vectors[:, : -order - 1 : -1].T * jnp.any(matrix != 0.0, axis=1)[:, None]


def _merged(start: Node, matrix: Matrix, rows: Float[Array, "..."], axis: int = 0) -> Float[Array, "..."]:
    """Put the merged rows in the place of two blocks, and those after them next to it."""
    order, twice = matrix.shape
    old = jnp.moveaxis(lax.dynamic_slice_in_dim(rows, start, twice, axis), axis, 0)
    new = jnp.moveaxis(jnp.tensordot(matrix, old, 1), 0, axis)
    pad = [(0, order * (i == axis)) for i in range(rows.ndim)]  # rows not reached are zeros, as at the beginning
    after = lax.dynamic_slice_in_dim(jnp.pad(rows, pad), order, rows.shape[axis], axis)
    place = jnp.expand_dims(jnp.arange(rows.shape[axis]), [i for i in range(rows.ndim) if i != axis])
    return lax.dynamic_update_slice_in_dim(jnp.where(place < start, rows, after), new, start, axis)
