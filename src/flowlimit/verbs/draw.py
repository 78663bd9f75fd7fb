"""`fl.draw`: the data set that a trial of `simulate` sees."""

from typing import Any

import jax.numpy as jnp

from ..numerics.precision import own_settings
from ..numerics.streams import as_key
from ..problem.tasks import Dataset, Regression
from ..simulation import draw_trial, join, shared_data


@own_settings()
def draw(task: Regression, *, dim: int, key: Any, trial: int = 0) -> Dataset:
    """Return one data set drawn from a task, that of the given trial of `simulate` with the same dim and key.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.draw(fl.Regression(0.5, 0.01, fl.Bernoulli(0.1)), dim=40, key=0)
    Dataset(X=<array 20x40>, y=<array 20>, w_star=<array 40>, noise_var=0.01)
    """
    if not isinstance(task, Regression):
        raise TypeError(f"task: given {task!r}; a Dataset is trained with the squared loss, needs fl.Regression")
    if dim < 1 or trial < 0:
        raise ValueError(f"dim, trial: given {dim} and {trial}, need at least 1 and 0")
    own = draw_trial(task, task.samples(dim), dim, as_key(key), jnp.asarray(trial))
    data = join(shared_data(task), own)
    return Dataset(data.X, data.f_star + data.noise, data.w_star, task.noise_var)
