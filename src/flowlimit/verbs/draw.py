"""`fl.draw`: the data set that a trial of `simulate` sees."""

from typing import Any

import jax.numpy as jnp

from ..numerics.precision import own_settings
from ..numerics.streams import as_key
from ..problem.checks import integer
from ..problem.tasks import Dataset, Task
from ..simulation import BALANCED, checked_draws, draw_trial, join, shared_data

MOST_ENTRIES = 2**31


@own_settings()
def draw(task: Task, *, dim: int, key: Any, trial: int = 0, draws: str = BALANCED) -> Dataset:
    """Return one data set drawn from a task, that of the given trial of `simulate` with the same dim, key and draws.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.draw(fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1)), dim=40, key=0)
    Dataset(X=<array 20x40>, y=<array 20>, w_star=<array 40>, noise_var=0.01)
    """
    if not isinstance(task, Task) or not task.loss.closes:
        raise TypeError(f"task: given {task!r}; a Dataset is trained with the squared loss, needs fl.Regression")
    dim = integer("dim", at_least=1, example=1000)(dim)
    trial = integer("trial", at_least=0, at_most=2**31 - 1, example=0)(trial)
    shared, samples = shared_data(task), task.samples(dim)
    if shared.X is not None and shared.X.shape[1] != dim:
        raise ValueError(
            f"dim: given {dim}, but the design's matrix has {shared.X.shape[1]} columns; give their number"
        )
    if samples * dim > MOST_ENTRIES:
        raise ValueError(
            f"dim: given {dim}, for which X has {samples} x {dim} entries; needs at most {MOST_ENTRIES} in all (16 GiB)"
        )
    own = draw_trial(task, samples, dim, as_key(key), jnp.asarray(trial), draws=checked_draws(draws))
    data = join(shared, own)
    known = {"w_star": data.w_star, "noise_var": task.error_floor, "variances": data.variances}
    return Dataset(data.X, data.f_star + data.noise, **known)
