"""Designs from real data: whitened as a whole, then some samples and features at random, scaled like the paper's."""

import numpy as np
from jaxtyping import Float

Matrix = Float[np.ndarray, "samples features"]
SMALLEST = 1e-10
"""Least variance of a component, relative to the largest, that is kept."""


def whiten(matrix: Matrix) -> Float[np.ndarray, "samples components"]:
    """Return all principal components of a matrix, each with mean 0 and variance 1.

    Examples
    --------
    >>> raw = np.random.default_rng(0).normal(size=(50, 8)) @ np.diag(np.arange(1.0, 9.0))
    >>> white = whiten(raw)
    >>> bool(np.allclose(white.T @ white / 50, np.eye(8)))
    True
    """
    centred = matrix - matrix.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    return left[:, sizes**2 > SMALLEST * sizes[0] ** 2] * np.sqrt(len(matrix))


def sample_design(white: Matrix, samples: int, dim: int, seed: int) -> Float[np.ndarray, "rows columns"]:
    """Return some samples and features of a whitened matrix, columns of mean 0 and variance 1/dim.

    Examples
    --------
    >>> white = np.random.default_rng(0).normal(size=(60, 40))
    >>> X = sample_design(white, samples=20, dim=10, seed=1)
    >>> X.shape, bool(np.allclose(X.var(axis=0), 0.1))
    ((20, 10), True)
    """
    if samples > white.shape[0] or dim > white.shape[1]:
        raise ValueError(
            f"samples, dim: given {samples} and {dim}, the matrix has {white.shape[0]} and {white.shape[1]}"
        )
    rng = np.random.default_rng(seed)
    rows = rng.choice(white.shape[0], samples, replace=False)
    columns = rng.choice(white.shape[1], dim, replace=False)
    X = white[np.ix_(rows, columns)]
    X = X - X.mean(axis=0)
    return X / (X.std(axis=0) * np.sqrt(dim))
