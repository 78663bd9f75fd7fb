"""The verb `solve_dmft`: the high-dimensional limit from the three nouns."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..dmft import AbstractSolver, SolverAnswer, SolverRequest, default_solver
from ..numerics.deadline import Deadline, checked_seconds
from ..numerics.devices import checked_devices
from ..numerics.memory import as_finite, checked_bytes
from ..numerics.precision import own_settings
from ..numerics.programs import drop_programs
from ..numerics.streams import as_key
from ..problem.checks import shown
from ..problem.conditions import check_conditions
from ..problem.limits import check_limit_request
from ..problem.models import Model
from ..problem.requests import named_observables
from ..problem.tasks import Task
from ..problem.trainings import Training
from ..results import Code, Limit
from ..types import Observable, PRNGKey, Times
from .ending import ending_of
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
    solver: AbstractSolver | None = None,
    key: int | PRNGKey = 0,
    save_at: Times | None = None,
    observables: Mapping[str, Observable] | None = None,
    start: Limit | None = None,
    time_limit: int | float | None = None,
    memory_limit: int | float = MEMORY_LIMIT,
    devices: Sequence[Any] | None = None,
    progress: Progress = None,
    throw: bool = True,
) -> Limit:
    """Solve the dynamical mean-field theory of a training: the limit n, d -> infinity, eq. (dmft_general).

    Gradient flow is solved on Gauss-Legendre panels to spectral accuracy in time, gradient descent step by step with no
    error in time, or on panels that sum over steps if there are many. Expectations are averages over quasi-random
    paths; whole solves are repeated with fresh paths until the error bars are small enough.

    Parameters
    ----------
    model, task, training
        The problem; a loss other than the squared one needs gradient descent. A design other than Gaussian has the same
        limit, if its entries are independent with light tails.
    rtol
        Relative accuracy of training and test error at two standard errors, down to 1e-6 of their initial value; below
        that the error bars still hold, and only they. With a loss other than the squared one: of the loss and the test
        error.
    solver
        How the limit is found, with every number that decides it: `PanelSolver` for flows and for more than 150 steps
        of gradient descent without a schedule, `StepSolver` for other trainings in steps, each with its defaults,
        unless given; or one of your own, see `AbstractSolver`.
    key
        An int or a jax key, for the paths.
    save_at
        Times of the curves, ascending. Every step for gradient descent; 0, the horizon and a log grid for a flow.
    observables
        Name -> function ``(w, w_star) -> number`` of one coordinate; its mean over coordinates becomes a curve.
    start
        An earlier limit of this or a similar problem: its panels and its number of paths are where this one begins. Of
        a flow to the same horizon, solved as accurately, its operators are, too, in place of a pilot's.
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
        None: a bar after two seconds, if somebody watches in a terminal or a notebook; True: a bar; False: no bar. Or a
        function ``(fraction, message)`` that ends the work by returning True.
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
    _check(model, task, training, rtol, start, solver)
    check_limit_request(model, task, training, observables)
    with reporter(progress, "solve") as report:
        request = SolverRequest(
            model=model,
            task=task,
            training=training,
            rtol=float(rtol),
            key=as_key(key),
            save_at=save_at,
            observables=named_observables(observables),
            memory_limit=checked_bytes("memory_limit", memory_limit),
            devices=None if devices is None else checked_devices(devices),
            start=start,
            deadline=deadline,
            ending=ending_of(model, task, training),
            report=report,
        )
        check_conditions(model, task.loss, request.flow)
        solver = solver or default_solver(request)
        answer = solver.solve(request)
    origin = provenance(key, model=model, task=task, training=training) | {"solver": repr(solver)}
    limit = _record(request, answer, origin)
    if throw:
        limit.result.raise_if_failed()
        if limit.result.code in (Code.TOLERANCE, Code.TIMEOUT):
            warnings.warn(f"{limit.result.code}: {limit.result.message}", AccuracyWarning, stacklevel=3)
    return limit


def _check(model: Any, task: Any, training: Any, rtol: Any, start: Any, solver: Any) -> None:
    if not isinstance(model, Model):
        raise TypeError(f"model: given {shown(model)}, needs a model, e.g. fl.DiagonalLinear(init_scale=0.3)")
    if not isinstance(task, Task):
        raise TypeError(
            f"task: given {shown(task)}, needs a law of the data, e.g. fl.Regression(0.5, noise_var=0.01, "
            f"target=fl.Bernoulli(0.1)); concrete data have no limit, see fl.simulate"
        )
    if not isinstance(training, Training):
        raise TypeError(f"training: given {shown(training)}, needs a training, e.g. fl.GradientFlow(horizon=100.0)")
    if not task.loss.closes and not training.clock.in_steps:
        raise ValueError(
            f"training: given {shown(training)}; the limit of a {type(task.loss).__name__} is solved for gradient "
            f"descent, e.g. fl.GradientDescent(step_size=0.1, num_steps=100), which tends to the flow as the step "
            f"does to 0"
        )
    if model.num_coordinates is not None:
        raise ValueError(
            f"model: given {shown(model)}, with one number for each of {model.num_coordinates} coordinates, which has "
            f"no limit; give their law, e.g. init_scale=fl.Empirical(scales)"
        )
    if not SMALLEST_RTOL <= as_finite(rtol) < 1.0:
        raise ValueError(f"rtol: given {shown(rtol)}, needs a number from {SMALLEST_RTOL:g} to 1, e.g. rtol=1e-2")
    if start is not None and not isinstance(start, Limit):
        raise TypeError(f"start: given {type(start).__name__}, needs a limit, e.g. what fl.solve_dmft returned")
    if solver is not None and not isinstance(solver, AbstractSolver):
        raise TypeError(f"solver: given {shown(solver)}, needs a solver, e.g. fl.PanelSolver(order=10)")


def _record(request: SolverRequest, answer: SolverAnswer, origin: Mapping[str, Any]) -> Limit:
    discrete = request.training.clock.in_steps
    if not answer.values:
        empty = {"train_error": np.zeros((0, 0)), "test_error": np.zeros((0, 0))}
        parts = {name: np.zeros(0) for name in empty}
        none = Limit(np.zeros(0), empty, discrete, parts, parts, parts, answer.outcome, answer.stats, origin)
        return replace(none, model=request.model, task=request.task, training=request.training)
    none = dict.fromkeys(answer.values, np.zeros(len(request.saves)))
    return Limit(
        times=request.saves,
        values=answer.values,
        discrete=discrete,
        statistical=none | dict(answer.statistical),
        bias=none | dict(answer.bias),
        time_error=none | dict(answer.time_error),
        result=answer.outcome,
        stats=answer.stats,
        provenance=origin,
        kernels=answer.kernels,
        operators=answer.operators,
        paths=answer.paths,
        model=request.model,
        task=request.task,
        training=request.training,
    )
