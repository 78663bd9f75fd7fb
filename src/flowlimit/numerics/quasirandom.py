"""Quasi-random standard normals with matched moments."""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri

from .sobol import BITS, sobol_points

Cloud = Float[np.ndarray, "points dims"]
Weights = Float[np.ndarray, "points"]

WELL_POSED = 1e-4
"""Least ratio of a Cholesky root's diagonal entries: rounding of 1e-16 becomes 1e-8 of what is orthogonalised."""
RECENT, LARGEST = 64, 2**16
"""Clouds that are remembered, and the most numbers in one: points of a sweep, and parts of a replica, draw the same."""


def sobol_normals(points: int, dims: int, rng: np.random.Generator) -> Cloud:
    """Scrambled Sobol points as standard normals, a power of two of them; the first dimensions are the most even.

    The outermost normal is 6.2.
    """
    if points < 1 or points & (points - 1):
        raise ValueError(f"points: given {points}, needs a power of two, for which Sobol points are balanced")
    if dims == 0:
        return np.zeros((points, 0))
    seed = rng.bit_generator.seed_seq
    if points * dims > LARGEST or not isinstance(seed, np.random.SeedSequence):
        return _normals(points, dims, rng)
    entropy = tuple(np.atleast_1d(np.asarray(seed.entropy)).tolist())
    known = _remembered(points, dims, entropy, seed.spawn_key, seed.n_children_spawned)
    rng.spawn(1)  # as one that draws does
    return known


@lru_cache(RECENT)
def _remembered(points: int, dims: int, entropy: tuple[int, ...], spawn_key: tuple[int, ...], spawned: int) -> Cloud:
    seed = np.random.SeedSequence(entropy, spawn_key=spawn_key, n_children_spawned=spawned)
    cloud = _normals(points, dims, np.random.default_rng(seed))
    cloud.setflags(write=False)  # others are given the same
    return cloud


def _normals(points: int, dims: int, rng: np.random.Generator) -> Cloud:
    return ndtri(np.clip(sobol_points(points, dims, rng), 0.5**BITS, 1.0 - 0.5**BITS))


def widen(cloud: Cloud, factors: Mapping[int, float]) -> tuple[Cloud, Weights]:
    """Multiply some dimensions by factors above 1, and return the weights that keep the standard normal law.

    A weight is p(x)/q(x) = factor exp(-(factor^2 - 1) (x/factor)^2 / 2), at most the product of the factors.

    Examples
    --------
    >>> cloud, weights = widen(sobol_normals(1024, 2, np.random.default_rng(0)), {0: 1.3})
    >>> bool(abs(weights @ cloud[:, 0] ** 4 / weights.sum() - 3.0) < 0.05)
    True
    """
    cloud, weights = cloud.copy(), np.ones(len(cloud))
    for dim, factor in factors.items():
        weights *= factor * np.exp(-0.5 * (factor**2 - 1.0) * cloud[:, dim] ** 2)
        cloud[:, dim] *= factor
    return cloud, weights


def match_moments(cloud: Cloud, weights: Weights | None = None, part: float = 0.5) -> Cloud:
    """Make sample means exactly 0, and the sample covariance of the leading dimensions exactly I.

    Averages of polynomials of degree 2 are then exact, so that a linear model has no sampling error. Dimensions are
    orthogonalised one after the other: the first ones, which carry the variance, hardly move. (Symmetric whitening of
    many dimensions moves them all, and costs a bias.) At most ``part`` times as many dimensions as points are matched.
    Points may have weights, in any unit.

    Examples
    --------
    >>> cloud = match_moments(np.random.default_rng(0).normal(size=(64, 3)))
    >>> bool(np.allclose(cloud.T @ cloud / 64, np.eye(3)))
    True
    """
    points, dims = cloud.shape
    share = np.full(points, 1.0 / points) if weights is None else weights / weights.sum()
    cloud = cloud - share @ cloud
    leading = min(dims, int(part * points))
    if leading:
        root = np.sqrt(share)[:, None]
        cloud[:, :leading] = _orthonormal(root * cloud[:, :leading]) / root
    return cloud


def _orthonormal(columns: Cloud) -> Cloud:
    """Orthogonalise columns one after the other: by a Cholesky root, which is products of matrices, unless ill posed.

    Householder's QR took ten times as long on busy cores, where its many short products wait for each other.
    """
    from scipy.linalg import solve_triangular  # loads slowly, too

    upper = _cholesky(columns.T @ columns)
    if upper is None:
        orthonormal, upper = np.linalg.qr(columns)
        return orthonormal * np.sign(np.diagonal(upper))
    return solve_triangular(upper, columns.T, trans=1, check_finite=False).T


def _cholesky(square: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"] | None:
    """Return the upper root; None where rounding would show in it."""
    try:
        upper = np.linalg.cholesky(square).T
    except np.linalg.LinAlgError:
        return None
    diagonal = np.diagonal(upper)
    return upper if diagonal.min() > WELL_POSED * diagonal.max() else None
