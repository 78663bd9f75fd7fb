"""Values of a causal kernel inside a panel, from the matrix that integrates against it there.

Inside a panel the integral of R(t, s) u(s) stops at s = t, where R jumps to zero, so an entry of the matrix is not a
value times a weight. Values for s <= t are those of the polynomial in (t, s) whose integrals fit the matrix best.
"""

from functools import lru_cache

import numpy as np
from jaxtyping import Float
from numpy.polynomial import legendre

from .blocks import gauss_rule


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
    degrees = [(a, b) for a in range(order) for b in range(order - a)]
    fine, fine_weights = legendre.leggauss(2 * order)
    columns = []
    for a, b in degrees:
        block = np.zeros((order, order))
        for i in range(order):
            s = (x[i] - 1.0) / 2.0 + (x[i] + 1.0) / 2.0 * fine
            cardinal = legendre.legvander(s, order - 1) @ rule.transform
            weight = fine_weights * (x[i] + 1.0) / 4.0  # ds on a panel of length 1
            block[i] = at_nodes[i, a] * (weight * legendre.legvander(s, order - 1)[:, b]) @ cardinal
        columns.append(block.ravel())
    evaluate = np.stack([np.tril(np.outer(at_nodes[:, a], at_nodes[:, b])).ravel() for a, b in degrees], axis=1)
    return evaluate @ np.linalg.pinv(np.stack(columns, axis=1))
