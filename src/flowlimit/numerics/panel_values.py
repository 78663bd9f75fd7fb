"""Values of a causal kernel inside a panel, from the matrix that integrates against it there.

Inside a panel the integral of R(t, s) u(s) stops at s = t, where R jumps to zero, so an entry of the matrix is not a
value times a weight. Values for s <= t are those of the polynomial in (t, s) whose integrals against polynomials of low
degree fit the matrix best (of high degree, the matrix itself is not accurate). On a panel that sums over steps, sums
over the steps before t take the place of integrals, and R(t, t) is zero.
"""

import math
from functools import lru_cache

import numpy as np
from jaxtyping import Float
from numpy.polynomial import legendre

from .gauss import gauss_rule, sums_before

LOST_DEGREES = 3
"""Degrees below the panel's order that the fit leaves out, where the matrix is not accurate."""


@lru_cache(maxsize=256)
def panel_values(order: int, count: int | float = math.inf) -> Float[np.ndarray, "entries entries"]:
    """Return the map from a panel's matrix to kernel values at its nodes, on a panel of length 1; 0 for s > t.

    ``count`` is that of the steps which the panel sums over.

    Examples
    --------
    >>> rule, values = gauss_rule(6), panel_values(6)
    >>> R = (values @ rule.inner.ravel()).reshape(6, 6)  # integration itself: R = 1 up to t
    >>> bool(np.allclose(R, np.tri(6)))
    True
    """
    rule = gauss_rule(order, count)
    if count == order:  # every step is a node
        return np.diag(np.tri(order, k=-1).ravel()) * order
    x = 2.0 * rule.nodes - 1.0
    at_nodes = legendre.legvander(x, order - 1)
    tested = order - LOST_DEGREES + 1
    degrees = [(a, b) for b in range(tested) for a in range(tested - b)]
    integrals = np.zeros((order, tested, len(degrees)))  # of P_a(t) P_b(s) P_n(s) up to each node
    for index, (a, b) in enumerate(degrees):
        products = [legendre.legmul(np.eye(tested)[b], np.eye(tested)[n]) for n in range(tested)]
        rows = np.stack([np.pad(row, (0, 2 * tested - len(row))) for row in products])
        integrals[:, :, index] = at_nodes[:, [a]] * sums_before(rows, x, count) / 2.0  # ds on a panel of length 1
    fit = np.linalg.pinv(integrals.reshape(order * tested, len(degrees)))
    until = np.tri(order, k=0 if math.isinf(count) else -1)
    evaluate = np.stack([(until * np.outer(at_nodes[:, a], at_nodes[:, b])).ravel() for a, b in degrees], axis=1)
    # the matrix applied to P_n, n < tested, as a map from its entries
    apply = np.einsum("ik,jn->inkj", np.eye(order), at_nodes[:, :tested]).reshape(order * tested, order * order)
    return evaluate @ fit @ apply
