"""Columns for the fresh noises of residuals: one per step, or few where steps are many.

Each step adds a fresh noise, which is a new direction: a column of F beside those of the paths, see `samples_side`.
What counts of them are products of rows. So a history of few rows needs few columns: now and then they are turned.
"""

from dataclasses import replace

import jax.numpy as jnp
from jax import lax

from .history import Node
from .state import Rows

FRESH = 512
"""Steps whose fresh noises have a separate column each."""


def noise_count(steps: int, rows: int, fresh: int) -> int:
    """Return the columns for fresh noises of so many steps, in a history of so many rows."""
    return min(steps, fresh + 2 * rows)


def turn_noises(step: Node, steps: int, rows: Rows, fresh: int) -> Rows:
    """Make space for the next noises, once all columns are used: columns are turned, which changes no product of rows.

    Noises and directions have so many rows together; turned, they have no more columns than that.
    """
    columns, first = rows.noises.shape[1] - 1, rows.Q.shape[1] - rows.noises.shape[1] + 1

    def turn(rows: Rows) -> Rows:
        both = jnp.concatenate([rows.noises[:, 1:], rows.Q[:, first:]])
        root = jnp.linalg.qr(both.T, mode="r").T
        noises, Q = jnp.split(jnp.concatenate([jnp.zeros((len(root), fresh)), root], axis=1), 2)
        return replace(rows, noises=rows.noises.at[:, 1:].set(noises), Q=rows.Q.at[:, first:].set(Q))

    if columns <= 0 or columns == steps:
        return rows
    return lax.cond(step % fresh == fresh - 1, turn, lambda rows: rows, rows)
