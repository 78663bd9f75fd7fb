"""The compiled programs of a simulation, spread over devices: draw data, start, advance.

A batch holds one trial for each device, or for each group of devices that share the rows of X, on a trial axis in
front. Every trial runs a separate program, so that one with many steps does not hold up the others. Programs are
cached by the static parts of their inputs (devices, engine, functions, shapes): numbers never compile anew.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, Int

from ..numerics.compiling import compiled
from ..numerics.devices import put
from ..numerics.streams import Purpose, stream
from ..problem.flow import Flow
from ..problem.tasks import Task
from ..types import PRNGKey
from .data import Draws, Part, join, trial_data
from .engine import Chunk, Chunked, Engine, State
from .measure import Observables
from .rows import AXIS as ROW
from .rows import Rows

Trials = Int[Array, "trials"]
TRIAL = "trial"


class Setting(NamedTuple):
    """What all trials of a group of models share."""

    mesh: Mesh
    rows: Rows
    engine: Engine
    flow: Flow
    shared: Part
    observables: Observables


def make_mesh(devices: tuple[Any, ...], devices_per_trial: int) -> Mesh:
    """Arrange devices: trials one way, the rows of a trial's X the other."""
    return Mesh(np.array(devices).reshape(-1, devices_per_trial), (TRIAL, ROW))


@compiled
def draw(
    mesh: Mesh, rows: Rows, task: Task, dim: int, shared: Part, key: PRNGKey, trials: Trials, draws: Draws
) -> Part:
    """Draw the data of a batch of trials."""

    def one(fixed: tuple[Task, PRNGKey, Part], trial: Int[Array, ""]) -> Part:
        return trial_data(fixed[0], rows.samples, dim, fixed[1], trial, rows, fixed[2], draws)

    samples = rows.samples if shared.X is None else len(shared.X)
    like = jax.eval_shape(lambda: trial_data(task, samples, dim, key, trials[0], shared=shared, draws=draws))
    return _spread(mesh, one, (task, key, shared), trials, like)


@compiled
def start(setting: Setting, own: Part, key: PRNGKey, trials: Trials) -> State:
    """State of all models at time 0, for a batch of trials."""

    def one(fixed: tuple[Setting, PRNGKey], own: tuple[Part, Int[Array, ""]]) -> State:
        (_, rows, engine, flow, data, _), key = fixed
        keys = (stream(key, purpose, own[1]) for purpose in (Purpose.INIT, Purpose.STEPS))
        return engine.start(flow, join(data, own[0], rows), *keys)

    return _spread(setting.mesh, one, (setting, key), (own, trials))


@compiled
def advance(setting: Setting, own: Part, state: State, chunk: Chunk) -> tuple[State, Chunked]:
    """Run a batch of trials to the stop of a chunk."""

    def one(fixed: tuple[Setting, Chunk], own: tuple[Part, State]) -> tuple[State, Chunked]:
        (_, rows, engine, flow, data, observables), chunk = fixed
        return engine.advance(flow, join(data, own[0], rows), observables, own[1], chunk)

    return _spread(setting.mesh, one, (setting, chunk), (own, state))


def share(mesh: Mesh, rows: Rows, part: Part) -> Part:
    """Put what trials share on every device once, not at every call; of the rows of X, each device's own."""
    if mesh.size == 1:
        return part
    empty = rows.own * rows.parts - rows.samples
    filled = lambda x, axis: np.pad(np.asarray(x), [(0, empty * (i == axis % x.ndim)) for i in range(x.ndim)])
    by_rows = {name: filled(x, axis) for name, axis in ROWS_OF.items() if (x := getattr(part, name)) is not None}
    padded = eqx.tree_at(lambda part: [getattr(part, name) for name in by_rows], part, list(by_rows.values()))
    return jax.tree.map(lambda x, spec: put(mesh, x, spec), padded, _layout(padded))


ROWS_OF = {"X": 0, "f_star": -1, "noise": -1}
"""Arrays of data with an axis of rows, and which it is, not counting that of trials."""


def _layout(tree: Any, *trials: str) -> Any:
    """Return where the arrays of a tree are: rows over the devices of a trial, all else on each of them."""

    def one(x: Any) -> Any:
        everywhere = jax.tree.map(lambda _: PartitionSpec(*trials), x)
        if not isinstance(x, Part):
            return everywhere
        names = [name for name in ROWS_OF if getattr(x, name) is not None]
        before = lambda name: [None] * ((getattr(x, name).ndim - len(trials) - 1) if ROWS_OF[name] else 0)
        specs = [PartitionSpec(*trials, *before(name), ROW) for name in names]
        return eqx.tree_at(lambda x: [getattr(x, name) for name in names], everywhere, specs)

    return jax.tree.map(one, tree, is_leaf=lambda x: isinstance(x, Part))


def _spread(mesh: Mesh, function: Callable[[Any, Any], Any], fixed: Any, batch: Any, like: Any = None) -> Any:
    """Call ``function(fixed, own)`` for every trial of a batch; what has rows comes back like ``like``."""
    arrays, static = eqx.partition(fixed, eqx.is_array)

    def part(arrays: Any, batch: Any) -> Any:
        own = jax.tree.map(lambda x: x[0], batch)
        return jax.tree.map(lambda x: x[None], function(eqx.combine(arrays, static), own))

    in_front = jax.tree.map(lambda x: jax.ShapeDtypeStruct((1, *x.shape), x.dtype), like)
    out = PartitionSpec(TRIAL) if like is None else _layout(in_front, TRIAL)
    specs = (_layout(arrays), _layout(batch, TRIAL))
    return jax.shard_map(part, mesh=mesh, in_specs=specs, out_specs=out, check_vma=False)(arrays, batch)
