"""Gradient flow at finite size: diffrax with error control, each model with its own steps, on shared data."""

import dataclasses
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..numerics.chebyshev import RungeKuttaChebyshev
from ..problem.flow import Flow
from ..results import Code
from ..types import Coordinates, PRNGKey, Scalar, ThetaRows
from .control import WeightControl, label_scale, theta_size
from .data import Data
from .engine import NOT_FINITE, RUNNING, Chunk, Chunked, Engine, Failure, State, new_status
from .measure import Observables, backward, forward, measure
from .start import initial_theta
from .stiffness import largest_eigenvalue, spectral_radius

MAX_STEPS = 1_000_000
RESULTS = diffrax.RESULTS
REASONS = (
    RESULTS.nonfinite_input,
    RESULTS.max_steps_reached,
    RESULTS.dt_min_reached,
    RESULTS.max_steps_rejected,
    RESULTS.nonlinear_max_steps_reached,
    RESULTS.nonlinear_divergence,
    RESULTS.singular,
    RESULTS.internal_error,
)
"""Results of the solver that have a separate number, from `NOT_FINITE` on; the next one is that of all others."""
STEP_LIMIT = NOT_FINITE + 1


class FlowConstants(eqx.Module):
    """Fixed along a run: the largest eigenvalue of X^T X / delta, the scale of the weights, the initial sizes."""

    curvature: Scalar
    scale: Scalar
    size: Float[Array, "models"]


class FlowEngine(Engine):
    """Integrates theta' = drift(t, theta, g(theta)).

    Saved times are reached exactly: nothing is interpolated. The models of a group are batched, so that every stage is
    two matrix products for all of them, while each keeps its own step size.

    Parameters
    ----------
    rtol
        Relative accuracy asked of the weights; a number that compiles nothing anew.
    stabilised
        Whether to use the Runge-Kutta-Chebyshev solver (for stiff flows) and not Tsit5.
    solver
        A diffrax solver in place of these two.
    """

    rtol: Scalar
    stabilised: bool = eqx.field(static=True)
    solver: Any = eqx.field(default=None, static=True)
    slots: int = eqx.field(default=16, static=True)
    budget: float = eqx.field(default=float("inf"), static=True)

    @property
    def solver_name(self) -> str:
        """Name of the solver in use."""
        chosen = type(self.solver) if self.solver else RungeKuttaChebyshev if self.stabilised else diffrax.Tsit5
        return chosen.__name__

    @property
    def tolerance(self) -> Scalar:
        """Local error a step may make.

        The global error of the Chebyshev solver, of order 2, goes like the tolerance to the power 2/3: undone here.
        """
        return 30.0 * self.rtol**1.5 if self.stabilised else self.rtol

    def rougher(self, factor: float) -> "FlowEngine":
        """Return the same engine at a larger tolerance."""
        return dataclasses.replace(self, rtol=self.rtol * factor)

    def start(self, flow: Flow, data: Data, key: PRNGKey, steps_key: PRNGKey) -> State:
        """Position is time."""
        theta = initial_theta(flow, data, key)
        models = theta.shape[0]
        curvature = largest_eigenvalue(data.X, data.rows) if self.stabilised else jnp.zeros(())
        labels = data.f_star + jnp.broadcast_to(data.noise, data.f_star.shape)
        own = FlowConstants(curvature, label_scale(data.rows.mean(labels**2)), jax.vmap(theta_size)(theta))
        return State(jnp.zeros(()), theta, jnp.full(models, RUNNING, int), jnp.zeros(models, int), own)

    def advance(
        self, flow: Flow, data: Data, observables: Observables, state: State, chunk: Chunk
    ) -> tuple[State, Chunked]:
        """Integrate to the stop."""

        def field(t: Scalar, theta: ThetaRows, flow: Flow) -> ThetaRows:
            _, f = forward(flow, data, t, theta)
            return flow.drift_rows(t, theta, backward(flow, data, f))

        def save(t: Scalar, theta: ThetaRows, flow: Flow) -> dict[str, Scalar]:
            w, f = forward(flow, data, t, theta)
            return dict(measure(flow, data, observables, t, theta, w, f))

        def radius(t: Scalar, theta: ThetaRows, flow: Flow) -> Scalar:
            _, f = forward(flow, data, t, theta)
            return spectral_radius(flow, t, theta, backward(flow, data, f), state.own.curvature)

        solver = self.solver or (RungeKuttaChebyshev(radius) if self.stabilised else diffrax.Tsit5())

        def one(flow: Flow, theta: ThetaRows, size: Scalar) -> tuple[diffrax.Solution, Coordinates]:
            control = WeightControl(self.tolerance, size, state.own.scale)
            solution = diffrax.diffeqsolve(
                diffrax.ODETerm(field),  # pyright: ignore[reportArgumentType]
                solver,
                state.position,
                chunk.stop,
                None,
                theta,
                args=flow,
                saveat=diffrax.SaveAt(
                    subs=(diffrax.SubSaveAt(ts=chunk.targets, fn=save), diffrax.SubSaveAt(t1=True)),
                ),
                stepsize_controller=diffrax.ClipStepSizeController(control, step_ts=chunk.targets),
                max_steps=MAX_STEPS,
                adjoint=diffrax.ForwardMode(),
                throw=False,
            )
            assert solution.ys is not None
            return solution, flow.readout_rows(chunk.stop, solution.ys[1][0])

        models = eqx.filter_vmap(one, in_axes=(eqx.if_array(0), 0, 0))
        solution, w = models(flow, state.theta, state.own.size)
        status = new_status(state.status, _number(solution.result), w)
        values, ends = solution.ys
        steps = state.steps + solution.stats["num_steps"]
        return State(chunk.stop, ends[:, 0], status, steps, state.own), Chunked(values, w)

    def failure(self, status: int) -> Failure:
        """Return the solver's own words where it gave up."""
        if status == NOT_FINITE:
            return Failure(Code.DIVERGED, "ceased to be finite", "the flow may have no solution beyond")
        fix = "the flow may diverge there; if not, take another rtol or solver"
        if status == STEP_LIMIT:
            return Failure(Code.STEP_LIMIT, f"needed more than {MAX_STEPS} steps", fix)
        reason = status - NOT_FINITE
        words = RESULTS[REASONS[reason]] if reason < len(REASONS) else "a result that flowlimit does not know"
        return Failure(Code.FAILED, f"was given up by {self.solver_name} ({words})", fix)


def _number(result: Any) -> Int[Array, "models"]:
    """Return the status that a result of diffrax stands for."""
    number = jnp.where(result == RESULTS.successful, RUNNING, NOT_FINITE + len(REASONS))
    for index, reason in enumerate(REASONS):
        number = jnp.where(result == reason, NOT_FINITE + index, number)
    return number
