"""What the integration of a flow leaves of uncertainty in its curves, measured.

The first trials are run again at ten times the tolerance. A curve that then moves by D has, at the tolerance asked for,
an error of about D/10. All of D is reported, and the largest over neighbouring times: two curves may cross, and errors
vary from trial to trial. Nothing is supposed of the model: a flow that leaves a saddle amplifies its errors,
and D shows it.

Where saved times lie so close that both runs take the same steps, D vanishes and the error is what the tolerance
allows: for a mean of squares E of residuals known to e = 5 rtol sqrt(max E), that is 2 sqrt(E) e + e^2. It is added.
"""

from collections.abc import Mapping

import numpy as np

SLACK = 5.0
NEIGHBOURS = 2


def time_error(curves: Mapping[str, np.ndarray], moved: Mapping[str, np.ndarray], rtol: float) -> dict[str, np.ndarray]:
    """Turn how far curves moved into their errors; unknown (NaN) where the rougher run did not arrive.

    Parameters
    ----------
    curves
        Means over trials.
    moved
        How far they moved when the tolerance was made ten times larger.
    rtol
        The tolerance asked for.

    Examples
    --------
    >>> loss = {"loss": np.zeros(5)}
    >>> time_error(loss, {"loss": np.array([0.0, 1.0, 0.0, 0.0, 0.0])}, 1e-6)["loss"].tolist()
    [1.0, 1.0, 1.0, 1.0, 0.0]
    """
    return {name: _widest(moved[name], len(curve)) + _allowed(curve, rtol) for name, curve in curves.items()}


def _widest(moved: np.ndarray, length: int) -> np.ndarray:
    padded = np.pad(moved, NEIGHBOURS, mode="edge")
    largest = np.lib.stride_tricks.sliding_window_view(padded, 2 * NEIGHBOURS + 1).max(axis=1)
    return np.pad(largest, (0, length - len(largest)), constant_values=np.nan)


def _allowed(curve: np.ndarray, rtol: float) -> np.ndarray:
    size = np.nan_to_num(np.abs(curve), nan=0.0, posinf=0.0)
    slip = SLACK * rtol * np.sqrt(size.max(initial=0.0))
    return 2.0 * np.sqrt(size) * slip + slip**2
