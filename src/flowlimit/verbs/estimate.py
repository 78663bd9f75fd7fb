"""The verb `estimate_test_error`: the test error of a training run, from that run alone."""

from ..numerics.precision import own_settings
from ..problem.models import Model
from ..problem.tasks import Dataset, Task
from ..problem.trainings import Training
from ..results import Estimate
from ..types import PRNGKey, Times
from .estimating import estimates_of
from .progress import Progress


@own_settings()
def estimate_test_error(
    model: Model,
    dataset: Dataset | Task,
    training: Training,
    *,
    probes: int = 8,
    key: int | PRNGKey = 0,
    save_at: Times | None = None,
    rtol: float = 1e-5,
    memory_limit: int | float | None = None,
    progress: Progress = None,
    throw: bool = True,
) -> Estimate:
    """Train on concrete data, and estimate the test error along the way from that run alone, with error bars.

    No test data, no covariance of the features and no noise level are needed: in the limit of many samples and
    features, how residuals answer to kicks of themselves says by how much the training error is too small. For a linear
    model by gradient descent this is the estimator of Bellec and Tan (arXiv:2404.17856). The test error is that of a
    new sample of the same law, for weights trained on these samples.

    Parameters
    ----------
    model
        Any model with one output.
    dataset
        X and y; rows are independent samples of one law, whose entries may be correlated within a row. `fl.prepare`
        makes it from a table: means taken away, columns scaled.
    training
        `GradientFlow`, or `GradientDescent` with or without momentum.
    probes
        Random directions along which traces are measured, at least 2. Each costs about as much as one more model that
        is trained beside the first, and the part of the error bar that they leave falls like 1/sqrt(probes).
    key
        An int or a jax key, for probes and random initialisations.
    save_at
        Times to save, ascending. Every step for gradient descent; 0, the horizon and a log grid for a flow.
    rtol
        Relative accuracy of the weights along a flow.
    memory_limit
        Bytes that the call may add to this process; what the machine has unless given.
    progress
        None: a bar after two seconds, if somebody watches; True, False, or a function ``(fraction, message)`` that ends
        the work by returning True.
    throw
        Whether to raise if the run diverged; if not, the outcome is in ``.result``.

    Examples
    --------
    >>> import numpy as np, flowlimit as fl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 200))
    >>> prepared = fl.prepare(X, X[:, :5].sum(axis=1) + rng.normal(size=100))
    >>> training = fl.GradientDescent(step_size=0.1, num_steps=60)
    >>> estimate = fl.estimate_test_error(fl.DiagonalLinear(0.3), prepared.dataset, training)
    >>> bool(estimate.train_error[-1] < 0.1 < estimate.test_error[-1])
    True
    >>> bool(estimate.stopping.low <= estimate.stopping.time <= estimate.stopping.high)
    True
    """
    options = {"probes": probes, "key": key, "save_at": save_at, "rtol": rtol, "memory_limit": memory_limit}
    found = estimates_of([model], dataset, training, **options, progress=progress, throw=throw, title="estimate")
    return found[0].record
