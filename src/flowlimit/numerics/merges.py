"""Which rows of a long history become one block, and when: old steps are seen only through smooth functions of them.

Responses to what happened long ago, and correlations with it, are smooth in the time at which it happened. So a block
of old steps needs no row per step: its rows become their coefficients in the first polynomials, orthonormal over the
block's steps. Two blocks that are old enough become one of twice the length, with as many rows as each had; the number
of rows then grows like the logarithm of the number of steps. Being orthonormal, coefficients of normals are normals.

A block may be as long as its distance from now, and as its distance from the beginning, where all changes fast.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.polynomial import legendre

APART = 1.0
"""Least distance of a block from now, and from the beginning, over its length."""


class Merges(NamedTuple):
    """Where each step's row stands, and the merges after it: their number, first rows and levels."""

    places: Int[np.ndarray, "steps"]
    counts: Int[np.ndarray, "steps"]
    starts: Int[np.ndarray, "steps most"]
    levels: Int[np.ndarray, "steps most"]
    rows: int  # that there are at most

    @property
    def highest(self) -> int:
        """The highest level of the blocks that are merged."""
        return int(self.levels.max(initial=0))


@cache
def plan_merges(steps: int, order: int) -> Merges:
    """Return the merges of a history of so many steps, in blocks of ``order`` rows.

    Examples
    --------
    >>> plan_merges(100_000, 16).rows < 700
    True
    """
    blocks: list[int] = []  # levels, the oldest first: a block of level j has order 2^j steps
    places, merges, rows = np.zeros(steps, dtype=int), [], 0
    for step in range(steps):
        places[step] = order * len(blocks) + step % order
        rows, own = max(rows, int(places[step]) + 1), []
        if step % order == order - 1:
            blocks.append(0)
            while (pair := _pair(blocks)) is not None:
                own.append((order * pair, blocks[pair]))
                blocks[pair : pair + 2] = [blocks[pair] + 1]
        merges.append(own)
    counts = np.array([len(own) for own in merges])
    starts, levels = np.zeros((2, steps, max(int(counts.max(initial=0)), 1)), dtype=int)
    for step, own in enumerate(merges):
        for i, (start, level) in enumerate(own):
            starts[step, i], levels[step, i] = start, level
    return Merges(places, counts, starts, levels, rows)


def _pair(blocks: list[int]) -> int | None:
    """Return the first of two blocks that may become one, the oldest such pair."""
    ends = np.cumsum(2 ** np.array(blocks))
    for i in range(len(blocks) - 1):
        length = 2 ** (blocks[i] + 1)
        old = ends[-1] - ends[i + 1] >= APART * length and ends[i + 1] - length >= APART * length
        if old and blocks[i] == blocks[i + 1]:
            return i
    return None


@cache
def merging_matrices(order: int, levels: int) -> Float[np.ndarray, "levels order twice"]:
    """Return the matrices from the rows of two blocks of each level to those of the block that they become.

    Examples
    --------
    >>> first = merging_matrices(4, 3)[0]
    >>> bool(np.allclose(first @ first.T, np.eye(4)))
    True
    """
    matrices, basis = [], np.eye(order)
    for _ in range(levels):
        zero = np.zeros_like(basis)
        children = np.block([[basis, zero], [zero, basis]])
        basis = _polynomials(order, children.shape[1])
        matrices.append(basis @ children.T)
    return np.array(matrices)


def _polynomials(order: int, points: int) -> Float[np.ndarray, "order points"]:
    """Return polynomials orthonormal over so many equal steps."""
    x = (2.0 * np.arange(points) + 1.0) / points - 1.0
    return np.linalg.qr(legendre.legvander(x, order - 1))[0].T
