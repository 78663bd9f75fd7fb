"""The compiled programs of a simulation, spread over devices: draw data, start, advance.

A batch holds one trial for each device, on a trial axis in front. Each device runs a program of its own, so that a
trial with many steps does not hold up the others. Programs are cached by the static parts of their inputs (devices,
engine, functions, shapes): numbers never compile anew.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Int

from ..numerics.streams import Purpose, stream
from ..problem.flow import Flow
from ..problem.tasks import Task
from ..types import PRNGKey
from .data import Part, join, trial_data
from .engine import Chunk, Chunked, Engine, State
from .measure import Observables

Trials = Int[Array, "trials"]
Devices = tuple[Any, ...]


class Setting(NamedTuple):
    """What all trials of a group of models share."""

    devices: Devices
    engine: Engine
    flow: Flow
    shared: Part
    observables: Observables


@eqx.filter_jit
def draw(devices: Devices, task: Task, samples: int, dim: int, key: PRNGKey, trials: Trials) -> Part:
    """Draw the data of a batch of trials."""

    def one(shared: tuple[Task, PRNGKey], trial: Int[Array, ""]) -> Part:
        return trial_data(shared[0], samples, dim, shared[1], trial)

    return _spread(devices, one, (task, key), trials)


@eqx.filter_jit
def start(setting: Setting, own: Part, key: PRNGKey, trials: Trials) -> State:
    """State of all models at time 0, for a batch of trials."""

    def one(shared: tuple[Setting, PRNGKey], own: tuple[Part, Int[Array, ""]]) -> State:
        (_, engine, flow, data, _), key = shared
        keys = (stream(key, purpose, own[1]) for purpose in (Purpose.INIT, Purpose.STEPS))
        return engine.start(flow, join(data, own[0]), *keys)

    return _spread(setting.devices, one, (setting, key), (own, trials))


@eqx.filter_jit
def advance(setting: Setting, own: Part, state: State, chunk: Chunk) -> tuple[State, Chunked]:
    """Run a batch of trials to the stop of a chunk."""

    def one(shared: tuple[Setting, Chunk], own: tuple[Part, State]) -> tuple[State, Chunked]:
        (_, engine, flow, data, observables), chunk = shared
        return engine.advance(flow, join(data, own[0]), observables, own[1], chunk)

    return _spread(setting.devices, one, (setting, chunk), (own, state))


def replicate(part: Part, devices: Devices) -> Part:
    """Put what trials share on every device once, not at every call."""
    return part if len(devices) == 1 else jax.device_put(part, NamedSharding(_mesh(devices), PartitionSpec()))


def _spread(devices: Devices, function: Callable[[Any, Any], Any], shared: Any, batch: Any) -> Any:
    """Call ``function(shared, own)`` for every trial of a batch, one on each device."""
    arrays, static = eqx.partition(shared, eqx.is_array)

    def shard(arrays: Any, batch: Any) -> Any:
        own = jax.tree.map(lambda x: x[0], batch)
        return jax.tree.map(lambda x: x[None], function(eqx.combine(arrays, static), own))

    over, everywhere = PartitionSpec("trial"), PartitionSpec()
    spread = jax.shard_map(shard, mesh=_mesh(devices), in_specs=(everywhere, over), out_specs=over, check_vma=False)
    return spread(arrays, batch)


def _mesh(devices: Devices) -> Mesh:
    return Mesh(np.array(devices), ("trial",))
