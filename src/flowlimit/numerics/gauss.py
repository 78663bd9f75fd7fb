"""Gauss rules of panels: for integrals over an interval, and for sums over the steps in it.

A panel of ``count`` steps has them at u = -1 + 1/count, -1 + 3/count, ..., 1 - 1/count. Polynomials that are orthogonal
over these steps (Gram's) have the recurrence

    sqrt(b_{k+1}) p_{k+1} = u p_k - sqrt(b_k) p_{k-1},      b_k = (1 - k^2/count^2) / (4 - 1/k^2),

and those of Legendre are the case count = infinity. The Gauss rule of ``order`` nodes takes the mean over all steps of
polynomials of degree 2 order - 1 exactly; with count = order its nodes are the steps. With D = d/du and h = 2/count,
sums over steps are exact on polynomials, too, by the midpoint form of Euler and Maclaurin's formula, which ends:

    sum over steps before u of h f = (h D/2) / sinh(h D/2) (integral of f) from -1 to u - h/2.

So descent summed on panels of Gauss nodes is as stable as descent: with d_j = theta_{j+1} - theta_j, the change of
theta^2 over a panel is the sum of 2 theta d + d^2, of degree 2 order - 1, which the nodes' values give exactly.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.polynomial import legendre
from scipy.special import bernoulli

Coefficients = Float[np.ndarray, "degrees coefficients"]


class Rule(NamedTuple):
    """Collocation on the unit interval."""

    nodes: Float[np.ndarray, "nodes"]
    weights: Float[np.ndarray, "nodes"]
    inner: Float[np.ndarray, "nodes nodes"]
    transform: Float[np.ndarray, "nodes nodes"]  # nodal values -> coefficients of Gram's polynomials
    basis: Coefficients  # Legendre coefficients of Gram's polynomials, of the size of Legendre's

    def at(self, wanted: Float[np.ndarray, "wanted"]) -> Float[np.ndarray, "wanted nodes"]:
        """Return the matrix from nodal values to those of the polynomial at other places of the unit interval."""
        return legendre.legvander(2.0 * wanted - 1.0, len(self.nodes) - 1) @ self.basis.T @ self.transform


@lru_cache(maxsize=4096)
def gauss_rule(order: int, count: int | float = math.inf) -> Rule:
    """Return the rule with ``order`` nodes for integrals, or for means over ``count`` steps.

    Examples
    --------
    >>> rule = gauss_rule(4)
    >>> bool(np.allclose(rule.inner @ rule.nodes**3, rule.nodes**4 / 4))
    True
    >>> rule = gauss_rule(4, 10)  # the sum of j^3 over j < m is (m (m - 1) / 2)^2
    >>> m = 10 * rule.nodes - 0.5  # steps are the middles of ten parts
    >>> bool(np.allclose(10 * rule.inner @ m**3, (m * (m - 1) / 2) ** 2))
    True
    """
    degrees = np.arange(order)
    basis = _orthonormal(order, count)
    u, weights = _nodes(order, count)
    values = legendre.legvander(u, order - 1) @ basis.T
    size = np.sqrt(2.0 * degrees + 1.0)
    transform = (size[:, None] * values.T) * weights
    basis = basis / size[:, None]
    inner = np.tri(order, k=-1) / order if count == order else sums_before(basis, u, count) @ transform / 2.0
    return Rule((u + 1.0) / 2.0, weights, inner, transform, basis)


def _recurrence(order: int, count: int | float) -> Float[np.ndarray, "_"]:
    """Return sqrt(b_k), k = 1 to order - 1."""
    k = np.arange(1.0, order)
    return np.sqrt((1.0 - (k / count) ** 2) / (4.0 - 1.0 / k**2))


def _nodes(order: int, count: int | float) -> tuple[Float[np.ndarray, "order"], Float[np.ndarray, "order"]]:
    """Return the nodes in u and their weights, which sum to 1: eigenvalues of the recurrence's matrix."""
    if count == order:  # the steps themselves
        return (2.0 * np.arange(order) + 1.0) / order - 1.0, np.full(order, 1.0 / order)
    beside = _recurrence(order, count)
    u, vectors = np.linalg.eigh(np.diag(beside, 1) + np.diag(beside, -1))
    weights = vectors[0] ** 2
    return (u - u[::-1]) / 2.0, (weights + weights[::-1]) / 2.0


def _orthonormal(order: int, count: int | float) -> Coefficients:
    """Return the polynomials of mean square 1, as rows of Legendre coefficients."""
    n, beside = np.arange(order), np.r_[0.0, _recurrence(order, count)]
    # u P_n = ((n + 1) P_{n+1} + n P_{n-1}) / (2 n + 1)
    times_u = np.diag(((n + 1.0) / (2.0 * n + 1.0))[:-1], 1) + np.diag((n / (2.0 * n + 1.0))[1:], -1)
    rows = np.zeros((order, order))
    rows[0, 0] = 1.0
    for k in range(order - 1):
        rows[k + 1] = (rows[k] @ times_u - beside[k] * rows[k - 1]) / beside[k + 1]
    return rows


def sums_before(rows: Coefficients, u: Float[np.ndarray, "u"], count: int | float) -> Float[np.ndarray, "u rows"]:
    """Return the integrals of Legendre series from -1 to each u, or 2/count times their sums over steps before it."""
    step = 2.0 / count
    antiderivative = legendre.legint(rows, axis=1)
    at = lambda u, rows: legendre.legvander(u, rows.shape[1] - 1) @ rows.T
    numbers, total = bernoulli(rows.shape[1] + 1), np.zeros((len(u), len(rows)))
    for k in range(0, rows.shape[1] + 1, 2):
        # (x/2) / sinh(x/2) = sum over even k of (2^(1 - k) - 1) B_k x^k / k!
        part = (2.0 ** (1 - k) - 1.0) * numbers[k] * step**k / math.factorial(k)
        higher = legendre.legder(antiderivative, k, axis=1)
        total += part * (at(u - step / 2.0, higher) - at(-np.ones(1), higher))
    return total
