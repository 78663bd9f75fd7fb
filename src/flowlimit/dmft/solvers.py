"""Solvers: the objects that `solve_dmft` asks for a limit."""

import abc
from dataclasses import dataclass

import numpy as np

from ..results import Code, Outcome
from .control.beginning import Beginning, beginning_of
from .control.driver import Solved, solve
from .control.errors import all_curves
from .control.plan import make_plan
from .control.span import smooth_panels, span_of
from .ending import unknown_ending
from .readout.kernels import make_kernels
from .readout.measure import Measure
from .readout.ruler import ruler_of
from .request import SolverAnswer, SolverRequest
from .settings import PanelSettings, PathSettings, StepSettings

FEW_STEPS = 150
"""Steps up to which they are solved one by one; panels took as long at 100 steps of a network, a third at 200."""
JAGGED = 0.25
"""Part of all steps that may be nodes because of schedules: a solve on panels has more of them for its paths."""


class AbstractSolver(abc.ABC):
    """Something that finds limits: it has its numbers as fields, and one method.

    A user's solver implements `solve` and is passed as ``fl.solve_dmft(..., solver=own)``.
    """

    @abc.abstractmethod
    def solve(self, request: SolverRequest) -> SolverAnswer:
        """Return the curves at ``request.saves`` with their errors, or an outcome that says why there are none.

        Raises ValueError, with what to do, for a problem that it is not for.
        """


class _PathSolver(PathSettings, AbstractSolver):
    """What both shipped solvers do: plan, refuse what cannot fit, drive, read out."""

    def refuse(self, request: SolverRequest) -> None:
        """Raise for a clock of the other kind."""
        raise NotImplementedError

    def solve(self, request: SolverRequest) -> SolverAnswer:
        """Solve replicas of the single site's paths until the error bars are small enough."""
        self.refuse(request)
        plan = make_plan(
            request.model,
            request.task,
            request.training,
            settings=self,
            key=request.key,
            rtol=request.rtol,
            measure=Measure(request.observables),
            memory_limit=request.memory_limit,
            devices=request.devices,
        )
        refusal = plan.known_refusal(request.save_count)  # before anything of that length is made
        if refusal is not None:
            return SolverAnswer(outcome=Outcome(Code.MEMORY, refusal))
        deadline = request.deadline.shared_by(plan.mesh)
        begin, watch = beginning_of(request.start), (deadline, request.report)
        solved = solve(plan, request.saves, begin, *watch, request.ending)
        if solved.stats.held_from is not None and solved.outcome.code is Code.TOLERANCE:  # held too early
            edges, level = np.asarray(solved.stats.edges), solved.stats.level or 0
            further = solve(plan, request.saves, Beginning(edges, level), *watch, unknown_ending)
            solved = further if further.replicas.whole else solved
        return _answer(solved, float(request.task.error_floor))


@dataclass(frozen=True, kw_only=True)
class PanelSolver(PanelSettings, _PathSolver):
    """Limits of flows, and of gradient descent with many steps, on panels, to spectral accuracy in time.

    Panels of a flow integrate, those of gradient descent sum over steps: descent itself, not a flow. Where every step
    counts, at first and where modes alternate, panels have all their steps as nodes.

    Its fields are those of `PanelSettings` and `PathSettings`, keyword-only.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.PanelSolver(order=10, replicas=12).order
    10
    """

    def refuse(self, request: SolverRequest) -> None:
        """Raise for steps that are noisy."""
        if request.training.clock.in_steps and not fits_panels(request):
            raise ValueError(
                f"solver: given a PanelSolver, which is for flows, and for steps without noise, with the squared loss; "
                f"{request.training!r} needs fl.StepSolver()"
            )


@dataclass(frozen=True, kw_only=True)
class StepSolver(StepSettings, _PathSolver):
    """Limits of trainings in steps, solved step by step, with no error in time.

    Its fields are those of `StepSettings` and `PathSettings`, keyword-only.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.StepSolver(first_look=8).first_look
    8
    """

    def refuse(self, request: SolverRequest) -> None:
        """Raise for a flow."""
        if not request.training.clock.in_steps:
            raise ValueError(
                f"solver: given a StepSolver, which is for trainings in steps; {request.training!r} is a flow and "
                f"needs fl.PanelSolver()"
            )


def default_solver(request: SolverRequest) -> AbstractSolver:
    """Return the solver that is used unless another is given: steps one by one where they are few, noisy or jagged."""
    clock, panels = request.training.clock, PanelSolver()
    if not clock.in_steps:
        return panels
    one_by_one = clock.last <= FEW_STEPS or not fits_panels(request) or _is_jagged(request, panels)
    return StepSolver() if one_by_one else panels


def _is_jagged(request: SolverRequest, settings: PanelSettings) -> bool:
    """Whether a schedule is not smooth enough for panels to have far fewer nodes than there are steps."""
    clock, order = request.training.clock, settings.order
    ruler = ruler_of(clock, order, request.training.schedules or ())
    span = span_of(clock, order, ruler)
    return order * smooth_panels(span, order, settings.panel_part * request.rtol) > clock.last * JAGGED


def fits_panels(request: SolverRequest) -> bool:
    """Whether steps can be summed on panels: without noise, with a samples side that closes."""
    flow = request.flow
    return request.training.schedules is not None and flow.loss.closes and not flow.outputs and not flow.teachers


def _answer(solved: Solved, noise_var: float) -> SolverAnswer:
    """Return what was solved as curves and kernels."""
    if solved.grid is None or not solved.replicas.whole:
        return SolverAnswer(outcome=solved.outcome, stats=solved.stats)
    values, errors = all_curves(solved.replicas)
    whole = solved.solutions[0].whole
    kernels, operators = make_kernels(solved.grid, solved.solutions, noise_var) if whole else (None, None)
    return SolverAnswer(
        outcome=solved.outcome,
        values=values,
        statistical={name: error.statistical for name, error in errors.items()},
        bias={name: error.bias for name, error in errors.items()},
        time_error={name: error.time for name, error in errors.items()},
        kernels=kernels,
        operators=operators,
        paths=solved.sample,
        stats=solved.stats,
    )
