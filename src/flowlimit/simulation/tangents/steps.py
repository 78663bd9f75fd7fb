"""Gradient descent of several models with their tangents: every step is a node."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ...numerics.compiling import compiled
from ...problem.clocks import Positions, StepClock
from ...problem.flow import Flow
from ...results import Code, Outcome
from ..data import Data
from ..engine import ThetaModels
from .bases import Basis, step_basis
from .path import TangentPath
from .probes import SHAPES, Probes, Slow
from .pushed import StateRows, at_rest, gradients, residuals, with_tangents

CHUNK = 64
"""Steps of one call; the last one runs on, and what it has too many is dropped."""

LARGEST = 1e50
"""Residuals beyond this have diverged: squares of sums of them are still numbers."""


def follow_steps(
    flow: Flow,
    data: Data,
    theta: ThetaModels,
    probes: Probes,
    slow: Slow,
    clock: StepClock,
    saves: Positions,
    report: Callable[[float, str], Any],
    *,
    exact: bool,
) -> list[TangentPath]:
    """Take the steps of all stacked models up to the last saved one; all see the same kicks."""
    nodes, stopped = int(saves[-1]) + 1, False
    basis = step_basis(nodes, exact=exact)
    along = probes.at(0, basis.courses.shape[1])
    padded = np.zeros((-(-nodes // CHUNK) * CHUNK, basis.courses.shape[1]))
    padded[:nodes] = basis.courses
    state = jax.vmap(lambda theta: at_rest(theta, probes.count + SHAPES))(theta)
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    for first in range(0, nodes, CHUNK):
        done = min(first + CHUNK, nodes)
        kicks = np.tensordot(padded[first : first + CHUNK], along, axes=1)
        at = clock.times_at(np.minimum(np.arange(first, first + CHUNK), clock.last))
        state, found = _advance(flow, data, state, np.array(first), np.concatenate([kicks, slow.kicks(at)], axis=1))
        outputs, weights = (np.asarray(part)[:, : done - first] for part in found)
        parts.append((outputs, weights))
        stopped = bool(report(done / nodes, f"step {done - 1} of {nodes - 1}"))
        if stopped or not _finite(outputs).all(axis=1).any():
            break
    outputs, weights = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
    return [_path(*one, basis, along, slow, clock, saves, stopped) for one in zip(outputs, weights, strict=True)]


def _finite(outputs: np.ndarray) -> np.ndarray:
    """Whether all of a model's numbers at a node are."""
    return np.asarray((np.abs(outputs) < LARGEST).all(axis=(-2, -1)))


def _path(
    outputs: np.ndarray,
    weights: np.ndarray,
    basis: Basis,
    along: np.ndarray,
    slow: Slow,
    clock: StepClock,
    saves: Positions,
    stopped: bool,
) -> TangentPath:
    """Return what one model left behind, up to where it was finite."""
    finite = _finite(outputs)
    nodes = len(outputs) if finite.all() else int(finite.argmin())
    kept = saves[saves < nodes].astype(int)
    last = clock.times_at(np.array([max(nodes - 1.0, 0.0)]))[0]
    result = Outcome()
    if not finite.all():
        result = Outcome(Code.DIVERGED, f"ceased to be finite after time {last:g}; take a smaller step_size")
    elif stopped and nodes <= saves[-1]:
        result = Outcome(Code.STOPPED, f"stopped on request at time {last:g}")
    return TangentPath(
        residuals=outputs[:nodes, 0],
        responses=outputs[:nodes, 1:-SHAPES],
        probes=along,
        slow=outputs[:nodes, -SHAPES:],
        shapes=slow.shapes(clock.times_at(np.arange(float(nodes)))),
        direction=slow.direction,
        basis=basis.upto(nodes),
        readout=np.eye(nodes)[kept],
        times=clock.times_at(kept.astype(float)),
        weights=weights[kept],
        train_error_slip=np.zeros(len(kept)),
        residual_slip=np.zeros(len(kept)),
        steps=max(nodes - 1, 0),
        result=result,
    )


@compiled
def _advance(
    flow: Flow,
    data: Data,
    state: Float[Array, "models states *parameters dim"],
    first: Any,
    kicks: Any,
) -> tuple[Array, tuple[Array, Array]]:
    """Take a chunk of steps; return the state after it, and residuals and weights before each step, by models."""

    def one(flow: Flow, state: StateRows) -> tuple[Any, Any]:
        pushed = with_tangents(flow, kicks.shape[1])
        clock = flow.clock.steps
        assert clock is not None

        def step(theta: StateRows, given: tuple[Int[Array, ""], Float[Array, "count samples"]]) -> tuple[Any, Any]:
            number, kick = given
            t, size = clock.time(number), clock.size(number)
            w = pushed.readout_rows(t, theta)
            residual = residuals(data, w @ data.X.T)
            move = pushed.drift_rows(t, theta, gradients(data, residual, kick))
            return theta + size * move, (residual, w[0])

        return jax.lax.scan(step, state, (first + jnp.arange(len(kicks)), kicks))

    return eqx.filter_vmap(one, in_axes=(eqx.if_array(0), 0))(flow, state)
