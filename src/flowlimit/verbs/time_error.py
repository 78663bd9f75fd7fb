"""What the integration of a flow leaves of uncertainty in its errors.

The solver knows the weights to a relative accuracy rtol of their scale, so residuals carry an error e of a few rtol of
their size at the start. A mean of squares E is then known to 2 sqrt(E) e + e^2: little while E is large, all of it
once E has fallen to e^2. The factor 5 is what random problems need (benchmarks/flow_accuracy.py).
"""

from collections.abc import Mapping

import numpy as np

FACTOR = 5.0


def time_error(values: Mapping[str, np.ndarray], rtol: float) -> dict[str, np.ndarray]:
    """Error of train_error, test_error and loss from integrating in time, at each saved time."""
    if not len(values["train_error"]):
        return {}
    errors = {name: _of_squares(values[name], rtol) for name in ("train_error", "test_error") if name in values}
    loss = np.abs(values["loss"]).mean(axis=0)
    return errors | {"loss": 0.5 * errors["train_error"] + FACTOR * rtol * loss}


def _of_squares(values: np.ndarray, rtol: float) -> np.ndarray:
    mean = np.abs(values).mean(axis=0)
    slip = FACTOR * rtol * np.sqrt(mean[0])
    return 2.0 * np.sqrt(mean) * slip + slip**2
