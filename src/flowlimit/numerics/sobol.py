"""Scrambled Sobol points: those of `scipy.stats.qmc.Sobol`, bit by bit, without a second's import of `scipy.stats`.

The direction numbers, of Joe and Kuo (2008), are read from the file that SciPy installs.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from jaxtyping import Float, UInt32

BITS = 32
"""Of a coordinate: scrambling costs their square."""

Directions = UInt32[np.ndarray, "dims bits"]
"""A number for each bit of a point's index, whose bits are those of the coordinate, the highest first."""


def sobol_points(points: int, dims: int, rng: np.random.Generator) -> Float[np.ndarray, "points dims"]:
    """Return points in [0, 1), a power of two of them, with a linear scrambling and a shift from the generator.

    Examples
    --------
    >>> points = sobol_points(64, 3, np.random.default_rng(0))
    >>> np.histogram(points[:, 0], bins=8, range=(0, 1))[0].tolist()
    [8, 8, 8, 8, 8, 8, 8, 8]
    """
    if dims > len(_table()[0]):
        raise ValueError(f"dims: given {dims}, needs at most {len(_table()[0])}, whose direction numbers are known")
    (rng,) = rng.spawn(1)
    shift = rng.integers(2, size=(dims, BITS), dtype=np.uint32) @ (1 << np.arange(BITS, dtype=np.uint32))
    mixing = np.tril(rng.integers(2, size=(dims, BITS, BITS), dtype=np.uint32))
    directions = _scrambled(_directions(dims), mixing)
    index = shift[None]
    for bit in range((points - 1).bit_length()):  # Gray code: the second half is the first one backwards, a bit flipped
        index = np.concatenate([index, index[::-1] ^ directions[:, bit]])
    return index / 2.0**BITS


def _scrambled(directions: Directions, mixing: UInt32[np.ndarray, "dims bits bits"]) -> Directions:
    """Return numbers each of whose bits is itself plus some of those above it, as the lower triangles say."""
    place = np.arange(BITS - 1, -1, -1, dtype=np.uint32)
    matrix = mixing.astype(np.float32)  # sums of at most 32 bits are exact
    matrix[:, np.arange(BITS), np.arange(BITS)] = 1.0
    bits = ((directions[:, None, :] >> place[:, None]) & 1).astype(np.float32)
    mixed = (matrix @ bits).astype(np.uint32) & 1
    return np.bitwise_or.reduce(mixed << place[:, None], axis=1)


def _directions(dims: int) -> Directions:
    """Return the direction numbers of so many dimensions."""
    return _at_least(1 << (dims - 1).bit_length())[:dims]


@cache
def _at_least(dims: int) -> Directions:
    """Return the numbers of so many dimensions, if there are, from primitive polynomials and their first numbers."""
    polynomials, first = (array[:dims] for array in _table())
    degree = np.frexp(polynomials)[1] - 1
    degree[0] = BITS  # the first dimension has no polynomial: all its numbers are 1
    numbers = np.ones((len(degree), BITS), np.uint32)
    for own in np.unique(degree[1:]):
        rows = np.flatnonzero(degree == own)
        taken = (polynomials[rows] >> np.arange(own - 1, -1, -1)[:, None] & 1).astype(np.uint32)
        numbers[rows, :own] = first[rows, :own]
        for j in range(own, BITS):
            before = numbers[rows, j - own : j][:, ::-1].T << np.arange(1, own + 1, dtype=np.uint32)[:, None]
            numbers[rows, j] = numbers[rows, j - own] ^ np.bitwise_xor.reduce(taken * before)
    return numbers << np.arange(BITS - 1, -1, -1, dtype=np.uint32)


@cache
def _table() -> tuple[np.ndarray, np.ndarray]:
    """Return polynomials, as the bits of their coefficients, and first numbers of all dimensions."""
    scipy = find_spec("scipy")
    assert scipy is not None
    assert scipy.origin is not None
    with np.load(Path(scipy.origin).parent / "stats" / "_sobol_direction_numbers.npz") as known:
        return known["poly"], known["vinit"]
