"""The verb `select`: which model to take and when to stop it, by test errors estimated on the training data."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from ..numerics.precision import own_settings
from ..numerics.streams import as_key
from ..problem.checks import shown
from ..problem.models import Model
from ..problem.tasks import Dataset, Task
from ..problem.trainings import Training
from ..results import Choice, Selection
from ..results.outcome import FAILURES
from ..types import PRNGKey, Times
from .estimating import Estimated, estimates_of, normals, relative
from .progress import Progress

Errors = Float[np.ndarray, "models times"]


@own_settings()
def select(
    models: Sequence[Model],
    dataset: Dataset | Task,
    training: Training,
    *,
    probes: int = 32,
    key: int | PRNGKey = 0,
    save_at: Times | None = None,
    rtol: float = 1e-5,
    memory_limit: int | float | None = None,
    progress: Progress = None,
    throw: bool = True,
) -> Selection:
    """Choose among models and stopping times on concrete data, without a validation set.

    Every model is trained once, on all samples, and its test error along the way is estimated from that run alone, as
    `estimate_test_error` does. All models see the same probes, so that the errors of their estimates are common in
    large part; what is within the bar of the choice is judged by the standard error of the ratio of two estimates.

    Parameters
    ----------
    models
        A list of models, e.g. of several init scales and weight decays. Those of one kind share one compiled program;
        by gradient descent they are trained as one batch.
    probes
        As in `estimate_test_error`; more of them, since what they leave of noise misleads a choice among many.
    dataset, training, key, save_at, rtol, memory_limit, progress
        As in `estimate_test_error`.
    throw
        Whether to raise if a run diverged; if not, the choice is among the others, and the outcome in ``.result``.

    Examples
    --------
    >>> import numpy as np, flowlimit as fl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 200))
    >>> prepared = fl.prepare(X, X[:, :5].sum(axis=1) + rng.normal(size=100))
    >>> models = [fl.DiagonalLinear(scale) for scale in (0.1, 0.3, 1.0)]
    >>> selection = fl.select(models, prepared.dataset, fl.GradientDescent(step_size=0.05, num_steps=100))
    >>> selection.model
    DiagonalLinear(init_scale=0.1)
    >>> selection.within[0].any(), selection.within[2].any()
    (np.True_, np.False_)
    """
    if isinstance(models, Model) or not isinstance(models, Sequence):
        raise TypeError(f"models: given {shown(models)}, needs a list of models, e.g. [fl.DiagonalLinear(0.1), ...]")
    options = {"probes": probes, "key": key, "save_at": save_at, "rtol": rtol, "memory_limit": memory_limit}
    found = estimates_of(list(models), dataset, training, **options, progress=progress, throw=throw, title="select")
    return _selection(found, as_key(key))


def _selection(found: list[Estimated], key: PRNGKey) -> Selection:
    """Hold all models and times against the best of them."""
    records = tuple(one.record for one in found)
    times = max((one.times for one in records), key=len)
    taking_part = [i for i, one in enumerate(records) if len(one.times) and one.result.code not in FAILURES]
    ratio, bars = np.full((2, len(found), len(times)), np.nan)
    if not taking_part:
        return Selection(records, times, None, ratio, bars, np.zeros(len(found)))
    place = min(taking_part, key=lambda i: records[i].test_error.min())
    best = records[place]
    stopping = best.stopping
    assert stopping is not None
    at = int(best.test_error.argmin())
    for row, bar, one in ((ratio[i], bars[i], found[i]) for i in taking_part):
        reached = len(one.record.times)
        row[:reached] = one.record.test_error / stopping.test_error
        apart = ((relative(one) - relative(found[place])[at]) ** 2).sum(axis=1)
        slips = (one.record.time_error["test_error"] / one.record.test_error) ** 2
        slip = best.time_error["test_error"][at] / stopping.test_error
        bar[:reached] = row[:reached] * np.sqrt(apart + slips + slip**2)
    bars[place, at] = 0.0
    share = np.zeros(len(found))
    share[taking_part], optimism = _drawn([found[i] for i in taking_part], key)
    choice = Choice(place, stopping.time, stopping.test_error, stopping.test_error_stderr, optimism)
    return Selection(records, times, choice, ratio, bars, share)


def _drawn(found: list[Estimated], key: PRNGKey) -> tuple[Float[np.ndarray, "models"], float]:
    """Return how often each model is best in draws of the errors, and by how much the best is too small in them."""
    drawn = normals(key, found[0].root.shape[1])
    smallest, truth = np.empty((2, len(found), drawn.shape[1]))
    for i, one in enumerate(found):
        errors = one.record.test_error[:, None] * np.exp(relative(one) @ drawn)
        at = errors.argmin(axis=0)
        smallest[i], truth[i] = errors[at, np.arange(len(at))], one.record.test_error[at]
    winner = smallest.argmin(axis=0)
    each = winner, np.arange(len(winner))
    share = np.bincount(winner, minlength=len(found)) / len(winner)
    return share, float((truth[each] - smallest[each]).mean())
