"""The verb `solve_dmft`: the high-dimensional limit from the three nouns."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from ..dmft import Measure, Solved, all_curves, make_kernels, make_plan, solve, unsolved
from ..numerics.deadline import Deadline, checked_seconds
from ..numerics.devices import checked_devices
from ..numerics.memory import checked_bytes
from ..numerics.precision import own_settings
from ..numerics.programs import drop_programs
from ..numerics.streams import as_key
from ..problem.checks import shown
from ..problem.clocks import StepClock
from ..problem.conditions import check_conditions
from ..problem.limits import check_limit_request
from ..problem.models import Model
from ..problem.models.scales import PerCoordinate
from ..problem.requests import named_observables, positions_of, times_at
from ..problem.tasks import Task
from ..problem.trainings import Training
from ..results import Code, Limit, Outcome
from ..types import Observable, PRNGKey, Times
from .progress import Progress, reporter
from .provenance import provenance

SMALLEST_RTOL = 1e-8
MEMORY_LIMIT = 4 * 2**30


class AccuracyWarning(UserWarning):
    """A limit did not reach the accuracy that was asked for; its error bars say what it reached."""


@own_settings()
def solve_dmft(
    model: Model,
    task: Task,
    training: Training,
    *,
    rtol: float = 1e-2,
    key: int | PRNGKey = 0,
    save_at: Times | None = None,
    observables: Mapping[str, Observable] | None = None,
    start: Limit | None = None,
    time_limit: int | float | None = None,
    memory_limit: int | float = MEMORY_LIMIT,
    devices: Sequence[Any] | None = None,
    progress: Progress = False,
    throw: bool = True,
) -> Limit:
    """Solve the dynamical mean-field theory of a training: the limit n, d -> infinity, eq. (dmft_general).

    Gradient flow is solved on Gauss-Legendre panels to spectral accuracy in time, gradient descent step by step with no
    error in time. Expectations are averages over quasi-random paths; whole solves are repeated with fresh paths until
    the error bars are small enough.

    Parameters
    ----------
    model, task, training
        The problem; a loss other than the squared one needs gradient descent. A design other than Gaussian has the same
        limit, if its entries are independent with light tails.
    rtol
        Relative accuracy of training and test error at two standard errors, down to 1e-6 of their start; below that
        the error bars stay honest, and only they. With a loss other than the squared one: of the loss and the test
        error.
    key
        An int or a jax key, for the paths.
    save_at
        Times of the curves, ascending. Every step for gradient descent; 0, the horizon and a log grid for a flow.
    observables
        Name -> function ``(w, w_star) -> number`` of one coordinate; its mean over coordinates becomes a curve.
    start
        An earlier limit of this or a similar problem: its panels and its number of paths are where this one begins.
    time_limit
        Seconds, counted from the call and with compilation, after which the best answer so far is returned, with the
        code "timeout". Control comes back within the limit and the one compiled call that is then running. Where there
        is no answer yet the code is "no answer", which ``throw`` raises.
    memory_limit
        Bytes that the solve may add to the process, or to each device's memory, compiler included. Fewer paths and
        fewer replicas at a time are taken to stay within; what cannot is refused at once. The estimate that this rests
        on is ``limit.stats.memory_bytes``.
    devices
        Devices to spread the paths over, the default one alone unless given. The numbers do not depend on them. In a
        job of several processes each calls with the same ``devices=jax.devices()``, and each gets the limit.
    progress
        True for a bar, or a function ``(fraction, message)`` that ends the work by returning True.
    throw
        Whether to raise if there is no limit to return, and to warn if its accuracy is not what was asked for.

    Returns
    -------
    Limit

    Examples
    --------
    >>> import flowlimit as fl
    >>> task = fl.Regression(aspect_ratio=2.0, noise_var=0.1, target=fl.Normal())
    >>> limit = fl.solve_dmft(fl.Linear(), task, fl.GradientDescent(step_size=0.5, num_steps=20), rtol=1e-2)
    >>> limit.test_error.shape, bool(limit.test_error_stderr.max() < 1e-8)
    ((21,), True)
    """
    deadline = Deadline(checked_seconds("time_limit", time_limit))
    drop_programs()
    _check(model, task, training, rtol, start)
    check_limit_request(model, task, training, observables)
    clock = training.clock
    measure = Measure(named_observables(observables))
    plan = make_plan(
        model,
        task,
        training,
        key=as_key(key),
        rtol=rtol,
        measure=measure,
        memory_limit=checked_bytes("memory_limit", memory_limit),
        devices=None if devices is None else checked_devices(devices),
    )
    refusal = plan.refusal(clock.num_steps + 1) if isinstance(clock, StepClock) else None
    if refusal is not None:  # before anything of that length is made
        saves, solved = np.zeros(0), unsolved(Outcome(Code.MEMORY, refusal))
    else:
        saves = times_at(clock, positions_of("save_at", save_at, clock))
        check_conditions(model, task.loss, plan.site.flow)
        with reporter(progress, "solve") as report:
            solved = solve(plan, saves, _beginning(start), deadline.shared_by(plan.mesh), report)
    origin = provenance(key, model=model, task=task, training=training)
    limit = _record(solved, saves, isinstance(clock, StepClock), float(task.error_floor), origin)
    limit = replace(limit, model=model, task=task, training=training)
    if throw:
        limit.result.raise_if_failed()
        if limit.result.code in (Code.TOLERANCE, Code.TIMEOUT):
            warnings.warn(f"{limit.result.code}: {limit.result.message}", AccuracyWarning, stacklevel=3)
    return limit


def _check(model: Any, task: Any, training: Any, rtol: Any, start: Any) -> None:
    if not isinstance(model, Model):
        raise TypeError(f"model: given {model!r}, needs a model, e.g. fl.DiagonalLinear(init_scale=0.3)")
    if not isinstance(task, Task):
        raise TypeError(
            f"task: given {task!r}, needs a law of the data, e.g. fl.Regression(0.5, 0.01, fl.Bernoulli(0.1)); "
            f"concrete data have no limit, see fl.simulate"
        )
    if not isinstance(training, Training):
        raise TypeError(f"training: given {training!r}, needs a training, e.g. fl.GradientFlow(horizon=100.0)")
    if not task.loss.closes and not isinstance(training.clock, StepClock):
        raise ValueError(
            f"training: given {training!r}; the limit of a {type(task.loss).__name__} is solved for gradient descent, "
            f"e.g. fl.GradientDescent(step_size=0.1, num_steps=100), which tends to the flow as the step does to 0"
        )
    if isinstance(getattr(model, "init_scale", None), PerCoordinate):
        raise ValueError(
            "init_scale: given one scale a coordinate, which has no limit; give their law, e.g. "
            "init_scale=fl.Empirical(scales)"
        )
    if isinstance(rtol, bool) or not isinstance(rtol, Real) or not SMALLEST_RTOL <= float(rtol) < 1.0:
        raise ValueError(f"rtol: given {shown(rtol)}, needs a number from {SMALLEST_RTOL:g} to 1, e.g. rtol=1e-2")
    if start is not None and not isinstance(start, Limit):
        raise TypeError(f"start: given {type(start).__name__}, needs a limit, e.g. what fl.solve_dmft returned")


def _beginning(start: Limit | None) -> tuple[np.ndarray, int] | None:
    if start is None or start.stats.level is None:
        return None
    edges = start.stats.edges
    return np.zeros(1) if edges is None else np.asarray(edges), start.stats.level


def _record(solved: Solved, saves: np.ndarray, discrete: bool, noise_var: float, origin: Mapping[str, Any]) -> Limit:
    if solved.grid is None or not solved.replicas.whole:
        empty = {"train_error": np.zeros((0, 0)), "test_error": np.zeros((0, 0))}
        parts = {name: np.zeros(0) for name in empty}
        return Limit(np.zeros(0), empty, discrete, parts, parts, parts, solved.outcome, solved.stats, origin)
    values, errors = all_curves(solved.replicas)
    kernels, operators = make_kernels(solved.grid, solved.solutions, noise_var)
    part = lambda which: {name: getattr(error, which) for name, error in errors.items()}
    return Limit(
        times=saves,
        values=values,
        discrete=discrete,
        statistical=part("statistical"),
        bias=part("bias"),
        time_error=part("time"),
        result=solved.outcome,
        stats=solved.stats,
        provenance=origin,
        kernels=kernels,
        operators=operators,
        paths=solved.sample,
    )
