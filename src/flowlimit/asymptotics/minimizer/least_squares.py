"""No penalty: least squares."""

import numpy as np
from jaxtyping import Float

Vector = Float[np.ndarray, "_"]


def least_squares(X: np.ndarray, y: Vector) -> tuple[Vector, float, int]:
    """Return w, the size of the gradient relative to its start, and one iteration."""
    w, _, rank, _ = np.linalg.lstsq(X, y, rcond=None)
    if rank < X.shape[1]:
        raise ValueError(
            f"dataset: given X of rank {rank} and {X.shape[1]} dimensions, so least squares has many solutions; "
            f"needs independent columns, or weight_decay > 0"
        )
    start = np.abs(X.T @ y).max()
    return w, float(np.abs(X.T @ (y - X @ w)).max() / start) if start > 0.0 else 0.0, 1
