"""A user's table in its principal basis, as data to train on beside the limit of `fl.Spectrum.from_data`."""

from typing import Any

import numpy as np

from ..numerics.precision import own_settings
from ..numerics.principal import principal
from ..problem.features import check_table
from ..problem.tasks import Dataset


@own_settings()
def principal_data(X: Any, y: Any) -> Dataset:
    """Return a table in its principal basis, with the variances and the teacher of `fl.Spectrum.from_data`.

    Its test error is that of the model of this spectrum; that of rows which were kept apart needs no model:
    ``np.mean((data.y[others] - data.X[others] @ w) ** 2)``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 3))
    >>> data = principal_data(X, X[:, 0])
    >>> bool(np.allclose(data.X.T @ data.X / 50, np.diag(data.variances) / 3))
    True
    """
    found = principal(*check_table(X, y))
    signal = float(np.mean(found.variances * found.weights**2))
    noise = max(0.0, 1.0 - signal)
    return Dataset(found.scores, found.y, w_star=found.weights, noise_var=noise, variances=found.variances)
