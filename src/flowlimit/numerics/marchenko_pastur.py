"""The Marchenko-Pastur law: the spectrum of X^T X / delta in the limit."""

import numpy as np
from jaxtyping import Float

Nodes = Float[np.ndarray, "nodes"]


def marchenko_pastur(aspect_ratio: float, order: int = 400) -> tuple[Nodes, Nodes]:
    """Return nodes and weights of a quadrature for eq. (mp_law), the atom at 0 included where there is one.

    With x = 1 + 1/delta + (2/sqrt(delta)) cos(phi) the density becomes (2/pi) sin(phi)^2 / x, which is smooth and
    periodic, so that equal steps in phi converge geometrically, also for functions as steep as e^{-xt} at late times.

    Examples
    --------
    >>> x, weights = marchenko_pastur(0.5)
    >>> bool(np.allclose([weights.sum(), weights @ x, weights @ x**2], [1.0, 1.0, 3.0]))
    True
    """
    phi = (np.arange(order) + 0.5) * np.pi / order
    x = 1.0 + 1.0 / aspect_ratio + 2.0 / np.sqrt(aspect_ratio) * np.cos(phi)
    weights = 2.0 / order * np.sin(phi) ** 2 / x
    if aspect_ratio < 1.0:
        x, weights = np.r_[0.0, x], np.r_[1.0 - aspect_ratio, weights]
    return x, weights
