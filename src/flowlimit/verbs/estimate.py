"""The verb `estimate_test_error`: the test error of a training run, from that run alone."""

import time
import warnings
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from ..numerics.memory import checked_bytes, gibibytes, machine_bytes
from ..numerics.precision import own_settings
from ..numerics.programs import drop_programs
from ..numerics.streams import Purpose, stream
from ..problem.checks import integer, shown
from ..problem.flow import Flow, make_flow
from ..problem.models import Model
from ..problem.tasks import Dataset, DataSource, Task
from ..problem.trainings import Training
from ..results import Estimate, EstimateStats, Stopping
from ..simulation import BALANCED, Plan, make_plan
from ..simulation.tangents import Inverted, TangentPath, TangentWork, follow, invert
from ..types import PRNGKey, Times
from .progress import Progress, reporter
from .provenance import provenance
from .strains import strains_of

FEWEST_SAMPLES = 10
DRAWS = 2000
"""Of the estimate's errors, for the interval of the stopping time."""
TAILS = (0.025, 0.975)
PANEL_NODES = 400
"""More than a flow has, for an estimate of memory."""


class StrainWarning(UserWarning):
    """Data that strain the theory behind an estimate: its error bars may be too small."""


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
    drop_programs()
    began = time.perf_counter()
    limit = machine_bytes() if memory_limit is None else checked_bytes("memory_limit", memory_limit)
    plan, flow, probes = check_request(model, dataset, training, probes, key=key, save_at=save_at, rtol=rtol)
    _check_memory(plan, probes, limit)
    strains = strains_of(dataset)
    for strain in strains:
        warnings.warn(strain, StrainWarning, stacklevel=2)
    work = TangentWork(flow, dataset, plan.saves, probes, plan.key, plan.draws, rtol)
    with reporter(progress, "estimate") as report:
        path = follow(work, report)
    inverted = invert(path)
    samples, dim = plan.samples, plan.dim
    stats = EstimateStats(
        seconds=time.perf_counter() - began,
        samples=samples,
        dim=dim,
        probes=probes,
        nodes=len(path.residuals),
        steps=path.steps,
        rtol=None if training.clock.in_steps else float(rtol),
    )
    origin = provenance(key, model=model, task=dataset, training=training, samples=samples, dim=dim, probes=probes)
    estimate = Estimate(
        times=path.times,
        values={"train_error": inverted.train_error[None], "test_error": inverted.test_error[None]},
        discrete=training.clock.in_steps,
        **_parts(path, inverted),
        weights=path.weights,
        stopping=_stopping(path, inverted, plan.key),
        strains=strains,
        result=path.result,
        stats=stats,
        provenance=origin,
        model=model,
        task=dataset,
        training=training,
    )
    if throw:
        estimate.result.raise_if_failed()
    return estimate


def check_request(
    model: Any,
    dataset: Any,
    training: Any,
    probes: Any = 8,
    *,
    key: Any = 0,
    save_at: Times | None = None,
    rtol: float = 1e-5,
) -> tuple[Plan, Flow, int]:
    """Return the plan and the flow of an estimate, or refuse what the theory does not cover."""
    if not isinstance(dataset, DataSource) or dataset.is_random:
        fix = "to draw from a task, fl.draw; its test error is known without an estimate, fl.simulate"
        raise TypeError(f"dataset: given {shown(dataset)}, needs concrete data, e.g. fl.Dataset(X, y); {fix}")
    probes = integer("probes", at_least=2, at_most=10**4, example=8)(probes)
    options = dict.fromkeys(("weights_at", "observables", "solver", "devices", "dim"))
    plan = make_plan(
        [model], dataset, training, trials=1, key=key, save_at=save_at, rtol=rtol, draws=BALANCED, **options
    )
    flow = make_flow(model, dataset, training)
    if not training.noise.is_none:
        raise ValueError(
            f"training: given {training!r}, whose steps are random; the estimate is known for full gradients, e.g. "
            f"fl.GradientDescent(step_size=0.1, num_steps=200) or fl.GradientFlow(horizon=50.0)"
        )
    if not dataset.loss.closes or flow.outputs:
        raise ValueError(
            f"model: given {model!r} with outputs of shape {flow.outputs}; the estimate is known for one output and "
            f"the squared loss"
        )
    if plan.samples < FEWEST_SAMPLES:
        raise ValueError(
            f"dataset: given {plan.samples} samples, needs at least {FEWEST_SAMPLES}: the estimate is for many samples"
        )
    return plan, flow, probes


def _check_memory(plan: Plan, probes: int, limit: float) -> None:
    nodes = plan.saves[-1] + 1.0 if plan.clock.in_steps else PANEL_NODES
    samples, saved = plan.samples, len(plan.saves)
    needed = 8 * (nodes * (4 * probes + 3) * samples + (probes + 4) * nodes**2 + (nodes + saved) * plan.dim + saved**2)
    if needed > limit:
        raise ValueError(
            f"memory_limit: {nodes:.0f} steps with {probes} probes on {samples} samples need {gibibytes(needed)}, "
            f"allowed are {gibibytes(limit)}; take fewer steps or probes, or fl.GradientFlow, whose memory does not "
            f"grow with time"
        )


def _parts(path: TangentPath, inverted: Inverted) -> dict[str, Mapping[str, np.ndarray]]:
    """Return the parts of the error bars; the training error is known but for its integration in time."""
    none = np.zeros(len(path.times))
    return {
        "probes_error": {"train_error": none, "test_error": inverted.probes_stderr},
        "samples_error": {"train_error": none, "test_error": inverted.samples_stderr},
        "time_error": {
            "train_error": path.train_error_slip,
            "test_error": 2.0 * path.residual_slip * inverted.test_error,
        },
    }


def _stopping(path: TangentPath, inverted: Inverted, key: PRNGKey) -> Stopping | None:
    """Return the best time, with the interval that draws of the estimate's errors leave for it."""
    if not len(path.times):
        return None
    roots = np.hstack([inverted.probes_root, inverted.samples_root])
    rng = np.random.default_rng(np.asarray(jax.random.key_data(stream(key, Purpose.PROBES, 1))))
    drawn = inverted.test_error[:, None] + roots @ rng.normal(size=(roots.shape[1], DRAWS))
    low, high = np.quantile(path.times[drawn.argmin(axis=0)], TAILS, method="closest_observation")
    best = int(inverted.test_error.argmin())
    slip = 2.0 * path.residual_slip[best] * inverted.test_error[best]
    error = float(np.sqrt((roots[best] ** 2).sum() + slip**2))
    at = float(path.times[best])
    return Stopping(at, min(float(low), at), max(float(high), at), float(inverted.test_error[best]), error)
