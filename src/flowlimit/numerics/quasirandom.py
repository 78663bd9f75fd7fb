"""Quasi-random standard normals with matched moments."""

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri
from scipy.stats import qmc

Cloud = Float[np.ndarray, "points dims"]


def sobol_normals(points: int, dims: int, rng: np.random.Generator) -> Cloud:
    """Scrambled Sobol points as standard normals; the first dimensions are the most even."""
    if dims == 0:
        return np.zeros((points, 0))
    uniform = qmc.Sobol(dims, scramble=True, bits=52, rng=rng).random(points)
    return ndtri(np.clip(uniform, 2.0**-54, 1.0 - 2.0**-53))


def match_moments(cloud: Cloud) -> Cloud:
    """Make sample means exactly 0, and the sample covariance of the leading dimensions exactly I.

    Averages of polynomials of degree 2 are then exact, so that a linear model has no sampling error. Dimensions are
    orthogonalised one after the other: the first ones, which carry the variance, hardly move. (Symmetric whitening of
    many dimensions moves them all, and costs a bias.) At most half as many dimensions as points are matched.

    Examples
    --------
    >>> cloud = match_moments(np.random.default_rng(0).normal(size=(64, 3)))
    >>> bool(np.allclose(cloud.T @ cloud / 64, np.eye(3)))
    True
    """
    points, dims = cloud.shape
    cloud = cloud - cloud.mean(axis=0)
    leading = min(dims, points // 2)
    if leading:
        orthonormal, upper = np.linalg.qr(cloud[:, :leading])
        cloud[:, :leading] = orthonormal * np.sign(np.diagonal(upper)) * np.sqrt(points)
    return cloud
