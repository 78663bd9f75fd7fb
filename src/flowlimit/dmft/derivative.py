"""Derivatives of the errors' curves by a number of the replica, at frozen panels and normals.

The march is one pure function, so forward differentiation goes through it, iterations included. Nothing in it is a
singular value decomposition: the rotation is frozen and the root is a Gram-Schmidt with small innovations dropped, so
degenerate modes do no harm.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..numerics.blas import one_thread_each
from ..numerics.blocks import Blocks, steps
from ..problem.flow import make_flow
from ..problem.models import Model
from ..problem.tasks import Task
from ..problem.trainings import Training
from ..types import Scalar
from .control.draws import make_cloud
from .control.plan import Plan
from .engine.march import whole_march
from .engine.replica import Reference, Replica
from .engine.site import make_site
from .engine.state import TaskNumbers
from .readout.grid import Grid
from .readout.measure import SAMPLED
from .sampling.modes import Rotation
from .sampling.paths import Cloud, Counts, make_paths

TOLERANCE_PART = 1e-3
"""Part of rtol to which the two sides must agree here: the derivative lags the value by an iteration."""

Nouns = tuple[Model, Task, Training]
Pick = Callable[[Nouns], Scalar]


@one_thread_each()
def differentiate(
    plan: Plan, nouns: Nouns, pick: Pick, grid: Grid, counts: Counts, rotation: Rotation, replicas: int
) -> dict[str, Float[np.ndarray, "replicas saves"]]:
    """Return d(train_error) and d(test_error) by the number that ``pick`` finds in the nouns, replica by replica."""
    strata = plan.strata

    @jax.jit
    def slopes(cloud: Cloud) -> tuple[Array, Array]:
        def errors(value: Scalar) -> tuple[Array, Array]:
            changed = eqx.tree_at(pick, nouns, value)
            return _errors(plan, changed, grid, counts, cloud, strata)

        return jax.jvp(errors, (pick(nouns),), (jnp.ones(()),))[1]

    found = []
    for replica in range(replicas):
        cloud = make_cloud(plan, grid.nodes, counts, replica, rotation)
        found.append([np.asarray(x) for x in slopes(cloud)])
    train, test = (np.stack(column) for column in zip(*found, strict=True))
    return {"train_error": train, "test_error": test}


def _errors(
    plan: Plan, nouns: Nouns, grid: Grid, counts: Counts, cloud: Cloud, strata: tuple[int, ...] | None
) -> tuple[Array, Array]:
    model, task, training = nouns
    site, room = make_site(make_flow(model, task, training)), plan.room(grid.nodes)
    paths = make_paths(site, task.law, strata, counts, cloud)
    setting = TaskNumbers(task.aspect_ratio, task.error_floor, jnp.asarray(TOLERANCE_PART * plan.rtol))
    nothing = jnp.zeros((room, room))
    replica = Replica(site, setting, paths, Reference(nothing, nothing, nothing), plan.measure, plan.settings.iteration)
    rows = whole_march(replica, _blocks(grid, training), plan.measure.count)
    if plan.measure.direct:
        train, test = (jnp.asarray(grid.to_saves) @ rows.averages[: grid.nodes, -len(SAMPLED) + i] for i in (0, 1))
        return train, test
    L, R = (x[: grid.nodes, : grid.nodes] for x in (rows.L, rows.R_w))
    square = lambda root: jnp.sum((jnp.asarray(grid.to_saves) @ root) ** 2, axis=1)
    return square(L), square(L + R @ L)


def _blocks(grid: Grid, training: Training) -> Blocks:
    """Return the grid's blocks as functions of the training's numbers: with the step, all times are longer."""
    clock = training.clock.steps
    if clock is None:
        return grid.blocks
    if grid.edges is None:
        return steps(clock.sizes())
    if not clock.is_even:  # sizes of a schedule are many numbers, none of which is differentiated by
        return grid.blocks
    return jax.tree.map(lambda x: x * (clock.step_size / grid.ruler.step), grid.blocks)
