"""The verb `simulate`: finite-size experiments from the three nouns."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from ..numerics.memory import checked_bytes, machine_bytes
from ..numerics.precision import own_settings
from ..numerics.programs import drop_programs
from ..problem.models import Model
from ..problem.requests import RESERVED
from ..problem.tasks import Dataset, Task
from ..problem.trainings import Training
from ..results import Code, Outcome, Runs, RunStats
from ..simulation import BALANCED, Collected, FlowEngine, Plan, first_trial, is_random, make_plan, run
from ..types import Observable, PRNGKey, Times
from .progress import Progress, reporter
from .provenance import provenance, with_noun
from .time_error import time_error


class Options(TypedDict, total=False):
    """Keyword arguments of `simulate`, for its overloads."""

    dim: int | None
    trials: int | None
    key: int | PRNGKey
    draws: str
    save_at: Times | None
    weights_at: Times | None
    observables: Mapping[str, Observable] | None
    rtol: float
    solver: Any
    devices: Sequence[Any] | None
    devices_per_trial: int
    memory_limit: int | float | None
    progress: Progress
    throw: bool


@overload
def simulate(model: Model, task: Task | Dataset, training: Training, **options: Unpack[Options]) -> Runs: ...
@overload
def simulate(
    model: Sequence[Model], task: Task | Dataset, training: Training, **options: Unpack[Options]
) -> list[Runs]: ...


@own_settings()
def simulate(
    model: Any,
    task: Any,
    training: Any,
    *,
    dim: int | None = None,
    trials: int | None = None,
    key: int | PRNGKey = 0,
    draws: str = BALANCED,
    save_at: Times | None = None,
    weights_at: Times | None = None,
    observables: Mapping[str, Observable] | None = None,
    rtol: float = 1e-6,
    solver: Any = None,
    devices: Sequence[Any] | None = None,
    devices_per_trial: int = 1,
    memory_limit: int | float | None = None,
    progress: Progress = None,
    throw: bool = True,
) -> Runs | list[Runs]:
    """Train models on finite data and measure them in time.

    Gradient descent is the exact recursion in the model's own parameters. Gradient flow is integrated with error
    control, in the mirror coordinate where the model has one, by a stabilised explicit solver where it is stiff.

    Parameters
    ----------
    model
        A model, or a list of models: these are trained on the same data, and those alike in kind as one batch.
    task
        The law of the data, drawn anew in each trial; or a `Dataset`.
    training
        `GradientFlow` or `GradientDescent`.
    dim
        Number of coordinates d; samples are round(aspect_ratio dim). Not given beside a `Dataset`.
    trials
        Number of independent repetitions, 10 unless given. One for a `Dataset` unless initialisations are random.
    key
        An int or a jax key. Trial i is the same for any number of trials and devices.
    draws
        "balanced": in every trial targets, label noise and random initialisations have their laws' composition (of
        1000 coordinates that are 1 with probability 0.1, exactly 100 are 1, at random places), so that trials differ
        less by chance. "independent": each number is drawn by itself. Data matrices are random in both.
    save_at
        Times to save, ascending. Every step for gradient descent; 0, the horizon and a log grid for a flow.
    weights_at
        Times, among those saved, at which the weights themselves are kept.
    observables
        Name -> function ``(w, w_star) -> number`` of one coordinate, averaged over coordinates.
    rtol
        Relative accuracy of the weights along a flow. Gradient descent has no such error.
    solver
        A diffrax solver for flows, in place of the automatic choice.
    devices
        Devices to spread trials over; all local ones unless given. In a job of several processes each calls with the
        same ``devices=jax.devices()``, and each gets all runs.
    devices_per_trial
        How many devices share the rows of X of one trial, for data too large for one device: with 8 devices, 2
        means 4 trials at once, 8 one big trial after the other. The numbers do not depend on it.
    memory_limit
        Bytes that the runs may add to this process; what the machine has unless given. What needs more, by the
        estimate in ``runs.stats.memory_bytes``, is refused before anything is drawn.
    progress
        None: a bar after two seconds, if somebody watches in a terminal or a notebook; True: a bar; False: no bar. Or a
        function ``(fraction, message)`` that ends the work by returning True.
    throw
        Whether to raise if a run diverged; if not, the outcome is in ``.result``.

    Returns
    -------
    Runs, or a list of them for a list of models.

    Examples
    --------
    >>> import flowlimit as fl
    >>> model = fl.DiagonalLinear(init_scale=0.3)
    >>> task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    >>> runs = fl.simulate(model, task, fl.GradientDescent(step_size=0.1, num_steps=50), dim=100, trials=4, key=0)
    >>> runs.test_error.shape, runs.trials
    ((51,), 4)
    """
    drop_programs()
    began = time.perf_counter()
    models = list(model) if isinstance(model, Sequence) else [model]
    plan = make_plan(
        models,
        task,
        training,
        dim=dim,
        trials=trials,
        key=key,
        draws=draws,
        save_at=save_at,
        weights_at=weights_at,
        observables=observables,
        rtol=rtol,
        solver=solver,
        devices=devices,
        devices_per_trial=devices_per_trial,
        memory_limit=machine_bytes() if memory_limit is None else checked_bytes("memory_limit", memory_limit),
    )
    with reporter(progress, "simulate") as report:
        collected, stopped = run(plan, report)
    stats = _stats(plan, collected, time.perf_counter() - began)
    # Described once: the digest of a large data set takes time.
    sizes = {"dim": plan.dim, "samples": plan.samples, "trials": plan.trials, "draws": plan.draws}
    origin = provenance(key, task=task, training=training, **sizes)
    results = [
        _record(plan, index, one, training, collected[index], stats[index], with_noun(origin, model=one), stopped)
        for index, one in enumerate(models)
    ]
    if throw:
        for result in results:
            result.result.raise_if_failed()
    return results if isinstance(model, Sequence) else results[0]


def _record(
    plan: Plan,
    index: int,
    model: Model,
    training: Training,
    collected: Collected,
    stats: RunStats,
    origin: Mapping[str, Any],
    stopped: bool,
) -> Runs:
    if not plan.task.is_random and not is_random(model, training):
        collected = first_trial(collected)  # all trials are the same: one says as much, and no spread is known
    times = plan.clock.times_at(plan.saves)
    discrete = training.clock.in_steps
    if not collected.values:
        times, values = times[:0], {"train_error": np.zeros((0, 0))}
    else:
        values = {name: np.stack([trial[name] for trial in collected.values]) for name in _ordered(collected)}
        times = times[: values["train_error"].shape[1]]
    kept = bool(len(plan.weights) and collected.weights)
    return Runs(
        times=times,
        values=values,
        discrete=discrete,
        result=_outcome(plan, index, model, collected, values["train_error"], times, stopped),
        stats=stats,
        provenance=origin,
        time_error=_time_error(times, values, collected.moved, stats.rtol),
        weights=np.stack(collected.weights) if kept else None,
        weights_times=plan.clock.times_at(plan.weights) if kept else None,
        w_star=np.stack(collected.w_star) if kept and collected.w_star else None,
        model=model,
        task=plan.task,
        training=training,
    )


def _time_error(
    times: np.ndarray, values: Mapping[str, np.ndarray], moved: Mapping[str, np.ndarray], rtol: float | None
) -> dict[str, np.ndarray]:
    """Time errors of a flow's curves; none for steps, or if the work was stopped before there was a measure."""
    if not moved or rtol is None:
        return {}
    errors = time_error({name: value.mean(axis=0) for name, value in values.items()}, moved, rtol)
    return {name: np.where(times > 0.0, error, 0.0) for name, error in errors.items()}  # the start is exact


def _ordered(collected: Collected) -> list[str]:
    """Names of the curves, the package's in their order and then the user's (jit hands dictionaries back sorted)."""
    names = collected.values[0]
    return [name for name in RESERVED if name in names] + [name for name in names if name not in RESERVED]


def _outcome(
    plan: Plan,
    index: int,
    model: Model,
    collected: Collected,
    errors: np.ndarray,
    times: np.ndarray,
    stopped: bool,
) -> Outcome:
    if collected.failed:
        return _failure(plan, index, model, collected, errors, times)
    if stopped:
        done = f"{len(collected.values)} of {plan.trials} trials"
        reached = f", up to time {times[-1]:g}" if len(times) else ""
        return Outcome(Code.STOPPED, f"stopped on request with {done}{reached}")
    return Outcome()


def _failure(
    plan: Plan, index: int, model: Model, collected: Collected, errors: np.ndarray, times: np.ndarray
) -> Outcome:
    """Return the commonest reason's code, and every reason's words."""
    engine = next(group.engine for group in plan.groups if index in group.members)
    broken = ~np.isfinite(errors).all(axis=0)
    when = f"by time {times[broken.argmax()]:g}" if broken.any() else "after the last saved time"
    counts = Counter(engine.failure(status) for status in collected.failed).most_common()
    words = [
        f"{model!r} in {count} of {plan.trials} trials {failure.happened} {when}; {failure.fix}"
        for failure, count in counts
    ]
    return Outcome(counts[0][0].code, "; ".join(words))


def _stats(plan: Plan, collected: Mapping[int, Collected], seconds: float) -> dict[int, RunStats]:
    stats: dict[int, RunStats] = {}
    for group in plan.groups:
        for member in group.members:
            own = RunStats(seconds, collected[member].steps, plan.mesh.size, plan.memory, draws=plan.draws)
            if isinstance(group.engine, FlowEngine):
                own = replace(own, rtol=float(group.engine.rtol), solver=group.engine.solver_name)
            stats[member] = own
    return stats
