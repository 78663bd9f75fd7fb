"""The fixed point of a training, as far as it is known before the training is solved."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class Ending(NamedTuple):
    """The two errors at infinite time; a test error of None is whatever it is once there is no training error left."""

    train_error: float
    test_error: float | None

    def distances(self, errors: Float[np.ndarray, "2"]) -> Float[np.ndarray, "2"]:
        """Return how far a training and a test error are from here."""
        test = errors[1] if self.test_error is None else self.test_error
        return np.abs(np.array([self.train_error, test]) - errors)


FindEnding = Callable[[], Ending | None]
"""Returns the errors at the fixed point, None if they are not known; the first call may take seconds."""


def unknown_ending() -> Ending | None:
    """Return None."""
    return None
