"""Values of a causal kernel inside a panel, from the matrix that integrates against it there.

Inside a panel the integral of R(t, s) u(s) stops at s = t, where R jumps to zero, so an entry of the matrix is not a
value times a weight. Values for s <= t are those of the polynomial in (t, s) whose integrals against polynomials of low
degree fit the matrix best (of high degree, the matrix itself is not accurate).
"""

from functools import lru_cache

import numpy as np
from jaxtyping import Float
from numpy.polynomial import legendre

from .blocks import gauss_rule

LOST_DEGREES = 3
"""Degrees below the panel's order that the fit leaves out, where the matrix is not accurate."""


@lru_cache
def panel_values(order: int) -> Float[np.ndarray, "entries entries"]:
    """Return the map from a panel's matrix to kernel values at its nodes, on a panel of length 1; 0 for s > t.

    Examples
    --------
    >>> rule, values = gauss_rule(6), panel_values(6)
    >>> R = (values @ rule.inner.ravel()).reshape(6, 6)  # integration itself: R = 1 up to t
    >>> bool(np.allclose(R, np.tri(6)))
    True
    """
    rule = gauss_rule(order)
    x = 2.0 * rule.nodes - 1.0
    at_nodes = legendre.legvander(x, order - 1)
    tested = order - LOST_DEGREES + 1
    degrees = [(a, b) for b in range(tested) for a in range(tested - b)]
    fine, fine_weights = legendre.leggauss(2 * order)
    integrals = np.zeros((order, tested, len(degrees)))  # of P_a(t) P_b(s) P_n(s) up to each node
    for i in range(order):
        s = (x[i] - 1.0) / 2.0 + (x[i] + 1.0) / 2.0 * fine
        P = legendre.legvander(s, order - 1)
        weights = fine_weights * (x[i] + 1.0) / 4.0  # ds on a panel of length 1
        for index, (a, b) in enumerate(degrees):
            integrals[i, :, index] = at_nodes[i, a] * (weights * P[:, b]) @ P[:, :tested]
    fit = np.linalg.pinv(integrals.reshape(order * tested, len(degrees)))
    evaluate = np.stack([np.tril(np.outer(at_nodes[:, a], at_nodes[:, b])).ravel() for a, b in degrees], axis=1)
    # the matrix applied to P_n, n < tested, as a map from its entries
    apply = np.einsum("ik,jn->inkj", np.eye(order), at_nodes[:, :tested]).reshape(order * tested, order * order)
    return evaluate @ fit @ apply
