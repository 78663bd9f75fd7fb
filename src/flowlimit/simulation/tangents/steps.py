"""Gradient descent with its tangents: every step is a node, so that nothing is left of time."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ...numerics.compiling import compiled
from ...problem.clocks import Positions, StepClock
from ...problem.flow import Flow
from ...results import Code, Outcome
from ...types import ThetaRows
from ..data import Data
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
    theta: ThetaRows,
    probes: Probes,
    slow: Slow,
    clock: StepClock,
    saves: Positions,
    report: Callable[[float, str], Any],
) -> TangentPath:
    """Take the steps up to the last saved one, each with fresh probes."""
    nodes, state, parts, kicks, stopped = int(saves[-1]) + 1, at_rest(theta, probes.count + SHAPES), [], [], False
    for first in range(0, nodes, CHUNK):
        done = min(first + CHUNK, nodes)
        kicks.append(probes.at(first, CHUNK))
        at = clock.times_at(np.minimum(np.arange(first, first + CHUNK), clock.last))
        state, found = _advance(flow, data, state, np.array(first), np.concatenate([kicks[-1], slow.kicks(at)], axis=1))
        parts.append(tuple(map(np.asarray, found)))
        stopped = bool(report(done / nodes, f"step {done - 1} of {nodes - 1}"))
        if stopped or not (np.abs(parts[-1][0][: done - first]) < LARGEST).all():
            break
    outputs, weights = (np.concatenate(part)[:nodes] for part in zip(*parts, strict=True))
    finite = (np.abs(outputs) < LARGEST).all(axis=(1, 2))
    reached = len(outputs) if finite.all() else int(finite.argmin())
    kept = saves[saves < reached].astype(int)
    nodes, last = reached, clock.times_at(np.array([max(reached - 1.0, 0.0)]))[0]
    result = Outcome()
    if not finite.all():
        result = Outcome(Code.DIVERGED, f"ceased to be finite after time {last:g}; take a smaller step_size")
    elif stopped and reached <= saves[-1]:
        result = Outcome(Code.STOPPED, f"stopped on request at time {last:g}")
    return TangentPath(
        residuals=outputs[:nodes, 0],
        responses=outputs[:nodes, 1:-SHAPES],
        probes=np.concatenate(kicks)[:nodes],
        slow=outputs[:nodes, -SHAPES:],
        shapes=slow.shapes(clock.times_at(np.arange(float(nodes)))),
        direction=slow.direction,
        sees=np.tri(nodes, k=-1, dtype=bool),
        readout=np.eye(nodes)[kept],
        times=clock.times_at(kept.astype(float)),
        weights=weights[kept],
        train_error_slip=np.zeros(len(kept)),
        residual_slip=np.zeros(len(kept)),
        steps=max(reached - 1, 0),
        result=result,
    )


@compiled
def _advance(
    flow: Flow,
    data: Data,
    state: StateRows,
    first: Any,
    kicks: Any,
) -> tuple[StateRows, tuple[Array, Array]]:
    """Take a chunk of steps; return the state after it, and residuals and weights before each step."""
    pushed = with_tangents(flow, kicks.shape[1])
    clock = flow.clock.steps
    assert clock is not None

    def one(theta: StateRows, given: tuple[Int[Array, ""], Float[Array, "count samples"]]) -> tuple[Any, Any]:
        step, kick = given
        t, size = clock.time(step), clock.size(step)
        w = pushed.readout_rows(t, theta)
        residual = residuals(data, w @ data.X.T)
        move = pushed.drift_rows(t, theta, gradients(data, residual, kick))
        return theta + size * move, (residual, w[0])

    return jax.lax.scan(one, state, (first + jnp.arange(len(kicks)), kicks))
