"""The loop around an engine: trials over devices, models in groups, chunks of time, progress and early ends."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array

from ..numerics.streams import Purpose, stream
from ..problem.tasks import Regression
from .data import Part, join, shared_data, trial_data
from .engine import Chunked, State
from .plan import Group, Plan
from .schedule import next_piece

SECONDS_A_CHUNK = 0.5
Report = Callable[[float, str], Any]


@dataclass
class Collected:
    """What the trials of one model gave so far."""

    values: list[dict[str, np.ndarray]] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)
    w_star: list[np.ndarray] = field(default_factory=list)
    steps: int = 0
    failed: list[int] = field(default_factory=list)
    """Trials in which the model ceased to be finite or the solver gave up."""


class Stopped(Exception):  # noqa: N818  no error: the caller asked for it
    """The caller's progress function asked for an end."""


def run(plan: Plan, report: Report) -> tuple[dict[int, Collected], bool]:
    """Run a plan. Returns what each model gave, and whether the caller stopped it before its end."""
    collected = {member: Collected() for group in plan.groups for member in group.members}
    shared = _replicate(shared_data(plan.task), plan.devices)
    at_once = len(plan.devices)
    for first in range(0, plan.trials, at_once):
        # The last batch may run trials beyond the number asked for: dropped below, and cheaper than a new program.
        trials = first + jnp.arange(at_once)
        batch = Part()
        if isinstance(plan.task, Regression):
            batch = _sample((plan.devices, plan.task, plan.samples, plan.dim, plan.key), trials)
        kept = min(at_once, plan.trials - first)
        for index, group in enumerate(plan.groups):
            share = ((first // at_once) * len(plan.groups) + index, -(-plan.trials // at_once) * len(plan.groups))
            try:
                _run_group(plan, group, shared, batch, trials, kept, collected, share, report)
            except Stopped:
                return collected, True
    return collected, False


def _run_group(
    plan: Plan,
    group: Group,
    shared: Part,
    batch: Part,
    trials: Array,
    kept: int,
    collected: dict[int, Collected],
    share: tuple[int, int],
    report: Report,
) -> None:
    """Run one group of models on one batch of trials, from time 0 to the last save."""
    state = _start((plan.devices, group.engine, group.flow, shared, plan.key), (batch, trials))
    parts: list[dict[str, np.ndarray]] = []
    weights: list[np.ndarray] = []
    done, position, budget, stopped = 0, 0.0, group.engine.budget, False
    while done < len(plan.saves) and not stopped:
        piece = next_piece(plan.saves, plan.weights, done, position, budget, group.engine.slots)
        began = time.perf_counter()
        inputs = (plan.devices, group.engine, plan.observables, group.flow, shared, piece.chunk)
        state, recorded = _advance(inputs, (batch, state))
        alive = np.asarray(state.alive)
        budget = _next_budget(budget, time.perf_counter() - began)
        done, position = done + piece.saved, float(np.asarray(state.position)[0])
        parts.append({name: np.asarray(value)[..., : piece.saved] for name, value in recorded.values.items()})
        if piece.wants_weights:
            weights.append(np.asarray(recorded.weights))
        fraction = (share[0] + done / len(plan.saves)) / share[1]
        stopped = report(fraction, f"trial {int(trials[0]) + 1} of {plan.trials}") is True
        if not alive.any():
            break
    if stopped and done < len(plan.saves) and collected[group.members[0]].values:
        raise Stopped  # whole trials are kept, this partial one is not
    length = done if stopped else len(plan.saves)
    for row, member in enumerate(group.members):
        _keep(collected[member], row, kept, parts, weights, state, batch, shared, int(trials[0]), length)
    if stopped:
        raise Stopped


def _keep(
    target: Collected,
    row: int,
    kept: int,
    parts: list[dict[str, np.ndarray]],
    weights: list[np.ndarray],
    state: State,
    batch: Part,
    shared: Part,
    first: int,
    length: int,
) -> None:
    for trial in range(kept):
        target.values.append({name: _join([p[name][trial, row] for p in parts], length) for name in parts[0]})
        target.weights.append(np.stack([w[trial, row] for w in weights]) if weights else np.zeros((0, 0)))
        if batch.w_star is not None:
            target.w_star.append(np.asarray(batch.w_star[trial]))
        elif shared.w_star is not None:
            target.w_star.append(np.asarray(shared.w_star))
        target.steps += int(state.steps[trial, row])
        if not bool(state.alive[trial, row]):
            target.failed.append(first + trial)


def _join(pieces: list[np.ndarray], length: int) -> np.ndarray:
    """Join the pieces of a curve; what a run that ended early did not reach is NaN."""
    curve = np.full(length, np.nan)
    joined = np.concatenate(pieces)
    curve[: len(joined)] = joined
    return curve


def _next_budget(budget: float, seconds: float) -> float:
    return 2.0 * budget if seconds < SECONDS_A_CHUNK / 2.0 else budget


def _replicate(tree: Any, devices: tuple[Any, ...]) -> Any:
    if len(devices) == 1:
        return tree
    return jax.device_put(tree, NamedSharding(_mesh(devices), PartitionSpec()))


def _mesh(devices: tuple[Any, ...]) -> Mesh:
    return Mesh(np.array(devices), ("trial",))


def _spread(devices: tuple[Any, ...], function: Callable[[Any, Any], Any], shared: Any, batch: Any) -> Any:
    """Call ``function(shared, own)`` for every trial of a batch, one on each device.

    Each device runs a program of its own: a trial with many steps does not hold up the others.
    """
    arrays, static = eqx.partition(shared, eqx.is_array)

    def shard(arrays: Any, batch: Any) -> Any:
        own = jax.tree.map(lambda x: x[0], batch)
        return jax.tree.map(lambda x: x[None], function(eqx.combine(arrays, static), own))

    over, everywhere = PartitionSpec("trial"), PartitionSpec()
    spread = jax.shard_map(shard, mesh=_mesh(devices), in_specs=(everywhere, over), out_specs=over, check_vma=False)
    return spread(arrays, batch)


@eqx.filter_jit
def _sample(inputs: tuple[Any, ...], trials: Array) -> Part:
    devices, task, samples, dim, key = inputs
    return _spread(devices, lambda s, trial: trial_data(s[0], samples, dim, s[1], trial), (task, key), trials)


@eqx.filter_jit
def _start(inputs: tuple[Any, ...], own: tuple[Part, Array]) -> State:
    devices, engine, flow, shared, key = inputs

    def one(shared: Any, own: Any) -> State:
        (flow, data, key), (batch, trial) = shared, own
        return engine.start(flow, join(data, batch), stream(key, Purpose.INIT, trial))

    return _spread(devices, one, (flow, shared, key), own)


@eqx.filter_jit
def _advance(inputs: tuple[Any, ...], own: tuple[Part, State]) -> tuple[State, Chunked]:
    devices, engine, observables, flow, shared, chunk = inputs

    def one(shared: Any, own: Any) -> tuple[State, Chunked]:
        (flow, data, chunk), (batch, state) = shared, own
        return engine.advance(flow, join(data, batch), observables, state, chunk)

    return _spread(devices, one, (flow, shared, chunk), own)
