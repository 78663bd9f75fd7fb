"""Sums over 1, 2, ..., n of functions that are smooth in the logarithm of the index, by few nodes.

The whole numbers are cut where their logarithm has grown by a fixed length. A part of a few numbers is summed as it is,
a longer one by the Gauss rule of the numbers in it, exact for polynomials in log j of degree ``2 order - 1``: no
integral stands in for the sum, so that nothing is lost at the first numbers.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

PART = float(np.log(10.0)) / 2.0
"""Growth of log j in a part: two parts per decade."""
ORDER, COARSE = 8, 6
"""Nodes of a part, and of the coarser rule that says how good the first is."""


class LogRule(NamedTuple):
    """Nodes in log j, with sum(weights * f(nodes)) = sum over j of f(log j)."""

    nodes: Float[np.ndarray, "nodes"]
    weights: Float[np.ndarray, "nodes"]


@lru_cache(maxsize=32)
def log_rule(last: int, order: int = ORDER) -> LogRule:
    """Return the rule for the sum over 1 to ``last``; of a smaller order it is filled up with nodes of weight 0.

    Examples
    --------
    >>> rule = log_rule(10_000)
    >>> len(rule.nodes), float(rule.weights.sum())
    (59, 10000.0)
    >>> bool(abs(rule.weights @ np.exp(-2.0 * rule.nodes) - np.sum(np.arange(1.0, 10_001.0) ** -2)) < 1e-12)
    True
    """
    parts, first = [], 1
    while first <= last:
        after = max(first + 1, int(np.exp(np.log(first) + PART)) + 1)
        parts.append(_part(first, min(after, last + 1), order))
        first = after
    nodes, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    return LogRule(nodes, weights)


def _part(first: int, after: int, order: int) -> LogRule:
    """Return the rule of the numbers from ``first`` to before ``after``."""
    count = after - first
    if count <= ORDER:
        return LogRule(np.log(np.arange(first, after)), np.ones(count))
    x = np.log(np.arange(first, after))
    middle, half = (x[0] + x[-1]) / 2.0, (x[-1] - x[0]) / 2.0
    nodes, weights = _gauss((x - middle) / half, order)
    fill = ORDER - order
    weights = np.concatenate([weights * (count / weights.sum()), np.zeros(fill)])
    return LogRule(middle + half * np.concatenate([nodes, np.zeros(fill)]), weights)


def _gauss(x: Float[np.ndarray, "points"], order: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights of the Gauss rule of points with weight 1 each, by Lanczos."""
    basis = np.zeros((order, len(x)))
    basis[0] = 1.0 / np.sqrt(len(x))
    jacobi = np.zeros((order, order))
    for i in range(order):
        image = x * basis[i]
        jacobi[i, i] = image @ basis[i]
        for _ in range(2):  # twice is enough
            image = image - (basis[: i + 1] @ image) @ basis[: i + 1]
        if i + 1 < order:
            jacobi[i, i + 1] = jacobi[i + 1, i] = np.linalg.norm(image)
            basis[i + 1] = image / jacobi[i, i + 1]
    nodes, vectors = np.linalg.eigh(jacobi)
    return nodes, len(x) * vectors[0] ** 2
