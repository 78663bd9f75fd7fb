"""From models and data to estimated test errors: what `estimate_test_error` and `select` share."""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from ..numerics.memory import checked_bytes, gibibytes, machine_bytes
from ..numerics.programs import drop_programs
from ..numerics.streams import Purpose, stream
from ..problem.checks import integer, shown
from ..problem.flow import Flow, make_flow
from ..problem.tasks import DataSource
from ..problem.trainings import Training
from ..results import Estimate, EstimateStats, Stopping
from ..results.outcome import FAILURES
from ..simulation import BALANCED, Plan, make_plan
from ..simulation.tangents import Inverted, TangentPath, TangentWork, follow, invert
from ..types import PRNGKey, Times
from .progress import Progress, reporter
from .provenance import provenance, with_noun
from .strains import strains_of

FEWEST_SAMPLES = 10
DRAWS = 2000
"""Of the estimate's errors, for the interval of the stopping time."""
LEVEL = 0.95
PANEL_NODES = 400
"""More than a flow has, for an estimate of memory."""
ROUGH = 0.03
"""Error in time of residuals, over their size, above which steps are kicked one by one."""
NOISY = 0.5
"""Part of an estimate that probes may leave; beyond, it is warned of."""
AT_ONCE = 8
"""Models of one kind that run as one batch; their tangents are in memory together."""


class StrainWarning(UserWarning):
    """Data that strain the theory behind an estimate: its error bars may be too small."""


class Estimated(NamedTuple):
    """An estimate, and a root of the covariance of its errors over times: root times normals is a draw of them.

    Models on the same data with the same key have errors in common: columns stand for the same probes and samples.
    """

    record: Estimate
    root: Float[np.ndarray, "times columns"]


def estimates_of(
    models: Sequence[Any],
    dataset: Any,
    training: Any,
    *,
    probes: int,
    key: Any,
    save_at: Times | None,
    rtol: float,
    memory_limit: int | float | None,
    progress: Progress,
    throw: bool,
    title: str,
) -> list[Estimated]:
    """Return the estimate of every model; those of one kind share a program, and their steps are one batch."""
    drop_programs()
    began = time.perf_counter()
    limit = machine_bytes() if memory_limit is None else checked_bytes("memory_limit", memory_limit)
    plan, flows, probes = check_request(models, dataset, training, probes, key=key, save_at=save_at, rtol=rtol)
    batches = [
        group.members[first : first + AT_ONCE]
        for group in plan.groups
        for first in range(0, len(group.members), AT_ONCE)
    ]
    _check_memory(plan, probes, limit, len(models), max(map(len, batches)))
    strains = strains_of(dataset)
    for strain in strains:
        warnings.warn(strain, StrainWarning, stacklevel=4)
    sizes = {"samples": plan.samples, "dim": plan.dim, "probes": probes}
    origin = provenance(key, task=dataset, training=training, **sizes)
    found: dict[int, Estimated] = {}
    with reporter(progress, title) as report:
        for batch in batches:
            ahead, part = len(found) / len(models), len(batch) / len(models)
            work = TangentWork([flows[i] for i in batch], dataset, plan.saves, probes, plan.key, plan.draws, rtol)
            runs = _followed(work, lambda done, said, ahead=ahead, part=part: report(ahead + part * done, said))
            seconds = (time.perf_counter() - began) / len(batch)
            for index, run in zip(batch, runs, strict=True):
                own = with_noun(origin, model=models[index])
                all_strains = strains + _noise_of(*run)
                found[index] = _estimated(*run, plan, models[index], dataset, training, own, all_strains, seconds, rtol)
            began = time.perf_counter()
    results = [found[index] for index in range(len(models))]
    for noise in dict.fromkeys(text for one in results for text in one.record.strains[len(strains) :]):
        warnings.warn(noise, StrainWarning, stacklevel=4)
    if throw:
        for one in results:
            one.record.result.raise_if_failed()
    return results


def _followed(work: TangentWork, report: Any) -> list[tuple[TangentPath, Inverted]]:
    """Follow flows with smooth kicks, or with one for every step where those miss too much."""
    runs = [(path, invert(path)) for path in follow(work, report)]
    rough = any(not path.result.message and inverted.slip.max(initial=0.0) > ROUGH for path, inverted in runs)
    if not rough or work.exact or not work.flows[0].clock.in_steps:
        return runs
    return _followed(replace(work, exact=True), report)


@np.errstate(over="ignore", invalid="ignore")  # of runs that diverge
def _noise_of(path: TangentPath, inverted: Inverted) -> tuple[str, ...]:
    """Say where probes leave so much that their bar, which is to first order, does not say how much.

    A run that failed says so by itself.
    """
    share = inverted.probes_stderr / np.maximum(inverted.test_error, np.finfo(float).tiny)
    if path.result.code in FAILURES or not (share > NOISY).any():
        return ()
    first = path.times[int((share > NOISY).argmax())]
    return (
        f"probes leave more than {NOISY:.0%} of the estimate at times from {first:.3g} on: there it may be off by more "
        f"than its bar; take more than {path.probes.shape[1]} probes, or stop earlier",
    )


def _estimated(
    path: TangentPath,
    inverted: Inverted,
    plan: Plan,
    model: Any,
    dataset: Any,
    training: Training,
    origin: Mapping[str, Any],
    strains: tuple[str, ...],
    seconds: float,
    rtol: float,
) -> Estimated:
    root = np.hstack([inverted.probes_root, inverted.samples_root])
    in_steps = training.clock.in_steps
    stats = EstimateStats(
        seconds=seconds,
        samples=plan.samples,
        dim=plan.dim,
        probes=path.probes.shape[1],
        nodes=len(path.residuals),
        steps=path.steps,
        rtol=None if in_steps else float(rtol),
    )
    record = Estimate(
        times=path.times,
        values={"train_error": inverted.train_error[None], "test_error": inverted.test_error[None]},
        discrete=in_steps,
        **_parts(path, inverted),
        weights=path.weights,
        left_out=inverted.left_out,
        stopping=None,
        strains=strains,
        result=path.result,
        stats=stats,
        provenance=origin,
        model=model,
        task=dataset,
        training=training,
    )
    found = Estimated(record, root)
    return found._replace(record=replace(record, stopping=_stopping(found, plan.key)))


def relative(one: Estimated) -> Float[np.ndarray, "times columns"]:
    """Return the root over the estimate: of its logarithm, so that draws stay positive where bars are large."""
    return one.root / np.maximum(one.record.test_error, np.finfo(float).tiny)[:, None]


def normals(key: PRNGKey, columns: int) -> Float[np.ndarray, "columns draws"]:
    """Return the standard normals that roots are multiplied by, the same for all models."""
    rng = np.random.default_rng(np.asarray(jax.random.key_data(stream(key, Purpose.PROBES, 1))))
    return rng.normal(size=(columns, DRAWS))


def check_request(
    models: Sequence[Any],
    dataset: Any,
    training: Any,
    probes: Any = 8,
    *,
    key: Any = 0,
    save_at: Times | None = None,
    rtol: float = 1e-5,
) -> tuple[Plan, list[Flow], int]:
    """Return the plan and the flows of estimates, or refuse what the theory does not cover."""
    if not isinstance(dataset, DataSource) or dataset.is_random:
        fix = "to draw from a task, fl.draw; its test error is known without an estimate, fl.simulate"
        raise TypeError(f"dataset: given {shown(dataset)}, needs concrete data, e.g. fl.Dataset(X, y); {fix}")
    probes = integer("probes", at_least=2, at_most=10**4, example=8)(probes)
    options = dict.fromkeys(("weights_at", "observables", "solver", "devices", "dim"))
    plan = make_plan(
        models, dataset, training, trials=1, key=key, save_at=save_at, rtol=rtol, draws=BALANCED, **options
    )
    flows = [make_flow(model, dataset, training) for model in models]
    if not training.noise.is_none:
        raise ValueError(
            f"training: given {training!r}, whose steps are random; the estimate is known for full gradients, e.g. "
            f"fl.GradientDescent(step_size=0.1, num_steps=200) or fl.GradientFlow(horizon=50.0)"
        )
    for model, flow in zip(models, flows, strict=True):
        if not dataset.loss.closes or flow.outputs:
            raise ValueError(
                f"model: given {model!r} with outputs of shape {flow.outputs}; the estimate is known for one output "
                f"and the squared loss"
            )
    if plan.samples < FEWEST_SAMPLES:
        raise ValueError(
            f"dataset: given {plan.samples} samples, needs at least {FEWEST_SAMPLES}: the estimate is for many samples"
        )
    return plan, flows, probes


def _check_memory(plan: Plan, probes: int, limit: float, models: int, at_once: int) -> None:
    nodes = plan.saves[-1] + 1.0 if plan.clock.in_steps else PANEL_NODES
    samples, saved = plan.samples, len(plan.saves)
    running = nodes * (4 * probes + 3) * samples + (probes + 4) * nodes**2 + (nodes + saved) * plan.dim + saved**2
    needed = 8 * (at_once * running + (models - 1) * saved * (plan.dim + 2 * samples + probes))
    if needed > limit:
        raise ValueError(
            f"memory_limit: {_counted(models)}{nodes:.0f} steps with {probes} probes on {samples} samples need "
            f"{gibibytes(needed)}, allowed are {gibibytes(limit)}; take fewer steps or probes, or fl.GradientFlow, "
            f"whose memory does not grow with time"
        )


def _counted(models: int) -> str:
    return f"{models} models, " if models > 1 else ""


@np.errstate(over="ignore")  # of runs that diverge
def _parts(path: TangentPath, inverted: Inverted) -> dict[str, Mapping[str, np.ndarray]]:
    """Return the parts of the error bars; the training error is known but for its integration in time."""
    none = np.zeros(len(path.times))
    return {
        "probes_error": {"train_error": none, "test_error": inverted.probes_stderr},
        "samples_error": {"train_error": none, "test_error": inverted.samples_stderr},
        "time_error": {
            "train_error": path.train_error_slip,
            "test_error": 2.0 * inverted.slip * inverted.test_error,
        },
    }


@np.errstate(over="ignore", invalid="ignore")  # of runs that diverge
def _stopping(found: Estimated, key: PRNGKey) -> Stopping | None:
    """Return the best time, with the range of those that the errors do not exclude.

    Of the true best time the estimate is above the smallest one by chance alone: by no more than the largest difference
    to any time that draws of the errors show, in standard errors of that difference, but for 5% of them.
    """
    times, errors, root = found.record.times, found.record.test_error, relative(found)
    if not len(times):
        return None
    best = int(errors.argmin())
    apart = np.sqrt(((root - root[best]) ** 2).sum(axis=1))
    drawn = (root[best] - root[apart > 0.0]) @ normals(key, root.shape[1]) / apart[apart > 0.0, None]
    largest = np.quantile(drawn.max(axis=0, initial=0.0), LEVEL)
    open_to = times[np.log(errors / errors[best]) <= largest * apart]
    at, stderr = float(times[best]), float(found.record.test_error_stderr[best])
    return Stopping(at, float(open_to.min()), float(open_to.max()), float(errors[best]), stderr)
