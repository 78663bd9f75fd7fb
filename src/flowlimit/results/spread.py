"""The standard error of a mean, and what few values make of it."""

from functools import cache

import numpy as np


def standard_error(values: np.ndarray, axis: int = 0) -> np.ndarray:
    """Return the standard error of the mean over an axis; NaN if there is one value only.

    Examples
    --------
    >>> float(standard_error(np.array([1.0, 2.0, 3.0])))
    0.5773502691896258
    """
    count = values.shape[axis]
    if count < 2:
        return np.full(np.delete(values.shape, axis), np.nan)
    return np.asarray(values.std(axis=axis, ddof=1) / np.sqrt(count))


@cache
def student_factor(replicas: int) -> float:
    """Return the factor on a standard error from few replicas that makes three of them as safe as three sigmas.

    Examples
    --------
    >>> round(student_factor(8), 2)
    1.51
    """
    from scipy.special import ndtr, stdtrit  # slow to import

    return float(stdtrit(replicas - 1, ndtr(3.0))) / 3.0
