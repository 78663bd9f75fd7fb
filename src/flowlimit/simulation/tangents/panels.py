"""A flow with its tangents on Gauss-Legendre panels, which are chosen as the run goes on.

In each panel the kicks are polynomials through fresh probes at its nodes, so that F acts on functions that are
polynomials in a panel, to spectral accuracy. A panel is kept if the polynomial through the residuals at its nodes meets
them at its right edge, where it is least accurate; else a shorter one is tried. What the estimate is made of,
u = r + R_w r, is as smooth as r; it is not judged by itself, since the noise of probes is not smooth.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import diffrax
import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...numerics.blocks import interpolation, panels
from ...numerics.chebyshev import RungeKuttaChebyshev
from ...numerics.compiling import compiled
from ...numerics.gauss import gauss_rule
from ...problem.clocks import Positions
from ...problem.flow import Flow
from ...results import Code, Outcome
from ...types import Scalar, ThetaRows
from ..control import WeightControl, theta_size
from ..data import Data
from ..flows import MAX_STEPS, FlowEngine
from ..measure import forward
from ..stiffness import largest_eigenvalue, spectral_radius
from .bases import each_node
from .path import TangentPath
from .probes import SHAPES, Probes, Slow
from .pushed import StateRows, at_rest, gradients, label_size, residuals, with_tangents

ORDER = 8
TOLERANCE = 2e-3
"""Relative error of residuals at the end of a panel; inside it is smaller."""
FIRST, MOST_GROWTH, SHORTEST = 1e-3, 3.0, 1e-9
"""Length of the first panel and of the shortest one, over the horizon, and by how much the next may be longer."""


class Constants(eqx.Module):
    """Fixed along a run: curvature of the loss, size of labels and of theta."""

    curvature: Scalar
    labels: Scalar
    size: Scalar


class Panel(eqx.Module):
    """What a panel found at its nodes and, last, at its right edge."""

    outputs: Float[Array, "nodes count samples"]
    weights: Float[Array, "nodes dim"]
    state: StateRows
    steps: Array
    fine: Array


@dataclass
class March:
    """Panels that were kept."""

    edges: list[float] = field(default_factory=lambda: [0.0])
    outputs: list[np.ndarray] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)
    kicks: list[np.ndarray] = field(default_factory=list)
    slips: list[tuple[float, float]] = field(default_factory=list)
    """Relative error of residuals at the end of each panel, and the error of the training error."""
    steps: int = 0

    def keep(self, right: float, panel: Panel, kicks: np.ndarray, slip: tuple[float, float]) -> None:
        """Add a panel."""
        self.edges.append(right)
        self.outputs.append(np.asarray(panel.outputs)[:-1])
        self.weights.append(np.asarray(panel.weights)[:-1])
        self.kicks.append(kicks)
        self.slips.append(slip)


def follow_flow(
    flow: Flow,
    data: Data,
    theta: ThetaRows,
    probes: Probes,
    slow: Slow,
    engine: FlowEngine,
    saves: Positions,
    report: Callable[[float, str], Any],
) -> TangentPath:
    """Integrate from panel to panel up to the last saved time."""
    horizon, state = float(saves[-1]), at_rest(theta, probes.count + SHAPES)
    constants = _constants(flow, data, theta, engine.stabilised)
    march, start, result = March(), _look(flow, data, state), Outcome()
    length = min(FIRST * flow.clock.end, horizon) if horizon > 0.0 else 0.0
    while march.edges[-1] < horizon:
        left = march.edges[-1]
        right = horizon if left + 1.2 * length >= horizon else left + length
        kicks = probes.at(ORDER * len(march.kicks), ORDER)
        every = np.concatenate([kicks, slow.kicks(left + (right - left) * gauss_rule(ORDER).nodes)], axis=1)
        panel = _integrate(engine, flow, data, constants, state, np.array([left, right]), every)
        march.steps += int(panel.steps)
        slip = _mismatch(np.asarray(panel.outputs)[:, 0]) if bool(panel.fine) else (np.inf, np.inf)
        if slip[0] <= TOLERANCE:
            march.keep(right, panel, kicks, slip)
            state = panel.state
        elif right - left < SHORTEST * flow.clock.end:
            why = "the flow may diverge there, or take another rtol"
            result = Outcome(Code.FAILED, f"could not be integrated beyond time {left:g}; {why}")
            break
        length = (right - left) * np.clip(0.8 * (TOLERANCE / max(slip[0], 1e-12)) ** (1.0 / ORDER), 0.25, MOST_GROWTH)
        if report(march.edges[-1] / horizon, f"time {march.edges[-1]:.4g} of {horizon:g}"):
            result = Outcome(Code.STOPPED, f"stopped on request at time {march.edges[-1]:g}")
            break
    return _path(march, start, saves, slow, result)


def _mismatch(residuals: np.ndarray) -> tuple[float, float]:
    """Return how far the polynomial through a panel's nodes is off at its right edge, and so is its mean square."""
    weights = gauss_rule(ORDER).at(np.ones(1))[0]
    met, end = weights @ residuals[:-1], residuals[-1]
    return _rms(met - end) / max(_rms(end), np.finfo(float).tiny), abs(_rms(met) ** 2 - _rms(end) ** 2)


def _path(march: March, start: Any, saves: Positions, slow: Slow, result: Outcome) -> TangentPath:
    """Put time 0, which is known without a panel, before the nodes."""
    first = [np.asarray(part)[None] for part in start]
    outputs, weights = (np.concatenate([a, *b]) for a, b in zip(first, (march.outputs, march.weights), strict=True))
    kicks = np.concatenate([np.zeros_like(first[0][:, 1:-SHAPES]), *march.kicks])
    panel = np.r_[-1, np.repeat(np.arange(len(march.kicks)), ORDER)]
    times = saves[saves <= march.edges[-1] * (1.0 + 1e-12)]
    readout = np.zeros((len(times), len(panel)))
    readout[times == 0.0, 0] = 1.0
    slips = np.zeros((len(times), 2))
    later, edges = times > 0.0, np.array(march.edges)
    if later.any():
        readout[later, 1:] = interpolation(edges, ORDER, times[later]).dense(len(edges) - 1)
        slips[later] = np.array(march.slips)[np.searchsorted(edges, times[later] * (1.0 - 1e-12)) - 1]
    return TangentPath(
        residuals=outputs[:, 0],
        responses=outputs[:, 1:-SHAPES],
        probes=kicks,
        slow=outputs[:, -SHAPES:],
        shapes=slow.shapes(np.r_[0.0, panels(edges, ORDER).times.ravel()]),
        direction=slow.direction,
        basis=each_node(panel[None, :] <= panel[:, None]),
        readout=readout,
        times=times,
        weights=readout @ weights,
        train_error_slip=slips[:, 1],
        residual_slip=slips[:, 0],
        steps=march.steps,
        result=result,
    )


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


@compiled
def _constants(flow: Flow, data: Data, theta: ThetaRows, stabilised: bool) -> Constants:
    curvature = largest_eigenvalue(data.X, data.rows) if stabilised else jnp.zeros(())
    labels = label_size(data)
    return Constants(curvature, jnp.where(labels > 0.0, labels, 1.0), theta_size(theta))


@compiled
def _look(flow: Flow, data: Data, state: StateRows) -> tuple[Array, Array]:
    """Return residuals with their tangents, and weights, at time 0."""
    w, f = forward(with_tangents(flow, len(state) - 1), data, jnp.zeros(()), state)
    return residuals(data, f), w[0]


@compiled
def _integrate(
    engine: FlowEngine,
    flow: Flow,
    data: Data,
    constants: Constants,
    state: StateRows,
    ends: Float[Array, "2"] | np.ndarray,
    kicks: Float[Array, "nodes count samples"] | np.ndarray,
) -> Panel:
    """Integrate over one panel; tangents are in units in which kicks are as large as the labels."""
    left, right = ends
    rule, pushed = gauss_rule(ORDER), with_tangents(flow, kicks.shape[1])
    coefficients = jnp.tensordot(jnp.asarray(rule.transform), jnp.asarray(kicks) * constants.labels, axes=1)
    nodes = left + (right - left) * jnp.asarray(rule.nodes)

    def gradient(t: Scalar, theta: StateRows) -> Any:
        kick = jnp.tensordot(_legendre(2.0 * (t - left) / (right - left) - 1.0), coefficients, axes=1)
        return gradients(data, residuals(data, forward(pushed, data, t, theta)[1]), kick)

    def save(t: Scalar, theta: StateRows, _: Flow) -> Any:
        w, f = forward(pushed, data, t, theta)
        return residuals(data, f), w[0]

    def radius(t: Scalar, theta: StateRows, _: Flow) -> Scalar:
        return spectral_radius(flow, t, theta[0], gradient(t, theta)[0], constants.curvature)

    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, theta, _: pushed.drift_rows(t, theta, gradient(t, theta))),  # pyright: ignore
        RungeKuttaChebyshev(radius) if engine.stabilised else diffrax.Tsit5(),
        left,
        right,
        None,
        state,
        args=pushed,
        saveat=diffrax.SaveAt(subs=(diffrax.SubSaveAt(ts=nodes, fn=save), diffrax.SubSaveAt(t1=True))),
        stepsize_controller=diffrax.ClipStepSizeController(
            WeightControl(engine.tolerance, constants.size, constants.labels), step_ts=nodes
        ),
        max_steps=MAX_STEPS,
        adjoint=diffrax.ForwardMode(),
        throw=False,
    )
    assert solution.ys is not None
    (outputs, weights), last = solution.ys
    at_end = save(right, last[0], pushed)
    outputs, weights = (jnp.concatenate([a, b[None]]) for a, b in zip((outputs, weights), at_end, strict=True))
    units = jnp.ones(outputs.shape[1]).at[1:].set(1.0 / constants.labels)
    fine = (solution.result == diffrax.RESULTS.successful) & jnp.isfinite(outputs).all()
    return Panel(outputs * units[None, :, None], weights, last[0], solution.stats["num_steps"], fine)


def _legendre(x: Scalar) -> Float[Array, "order"]:
    """Return the Legendre polynomials at a point, by their recursion."""
    values = [jnp.ones_like(x), x]
    for n in range(1, ORDER - 1):
        values.append(((2 * n + 1) * x * values[n] - n * values[n - 1]) / (n + 1))
    return jnp.stack(values)
