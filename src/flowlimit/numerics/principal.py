"""A table in its principal basis, and ridge regression there, with the ridge that rows left out one by one prefer."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

SMALLEST = 1e-10
"""Least variance of a component, relative to the largest, that is kept."""
RIDGES = np.geomspace(1e-4, 1e4, 81)
"""Tried ridges, relative to the mean variance of the components."""


class Principal(NamedTuple):
    """Scores of the rows on all principal components, and weights that predict y from them."""

    scores: Float[np.ndarray, "rows components"]  # column j has variance variances[j]/components
    variances: Float[np.ndarray, "components"]  # 1 on average
    y: Float[np.ndarray, "rows"]  # with mean 0 and variance 1
    weights: Float[np.ndarray, "components"]
    left_out: float  # mean squared error of rows that were left out, of the ridge that was chosen


def principal(X: Float[np.ndarray, "rows columns"], y: Float[np.ndarray, "rows"]) -> Principal:
    """Return the principal components of a table, in the scaling of a `Dataset`, and the ridge estimate on them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 5)) * np.array([3.0, 2.0, 1.0, 0.5, 0.2])
    >>> found = principal(X, X[:, 0] + 0.1 * rng.normal(size=300))
    >>> bool(abs(found.variances.mean() - 1.0) < 1e-12), bool(found.left_out < 0.01)
    (True, True)
    """
    rows = len(X)
    left, sizes, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    kept = sizes**2 > SMALLEST * sizes[0] ** 2
    left, square = left[:, kept], sizes[kept] ** 2
    variances = square / square.mean()
    z = (y - y.mean()) / y.std()
    along = left.T @ z
    errors = [_left_out(left, variances, along, z, ridge) for ridge in RIDGES]
    best = int(np.argmin(errors))
    scores = left * np.sqrt(variances * rows / len(variances))
    size = np.sqrt(variances * rows / len(variances))  # singular values of the scores
    weights = size * along / (size**2 * (1.0 + RIDGES[best] / variances))
    return Principal(scores, variances, z, weights, float(errors[best]))


def _left_out(left: np.ndarray, variances: np.ndarray, along: np.ndarray, z: np.ndarray, ridge: float) -> float:
    """Return the mean squared error of rows left out one by one, each predicted by the others."""
    share = variances / (variances + ridge)
    leverage = (left**2) @ share + 1.0 / len(z)  # of the intercept too
    return float(np.mean(((z - left @ (share * along)) / np.maximum(1.0 - leverage, 1e-12)) ** 2))
