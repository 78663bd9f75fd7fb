"""What a plan draws: the normals of a replica, and all that its program is given."""

import math

import numpy as np
from jaxtyping import Array, Float

from ...numerics.compiling import compiled
from ...numerics.devices import of_first_process, put_everywhere, put_here
from ...numerics.merges import merging_matrices
from ...numerics.streams import Purpose, seed_of
from ...problem.laws import Target
from ..engine.history import CHUNK
from ..engine.merging import Merging
from ..engine.replica import Reference, Replica
from ..engine.shards import spread_paths, spread_samples
from ..engine.site import Site
from ..engine.state import Paths, SamplePaths, TaskNumbers
from ..readout.solution import Solution
from ..sampling.modes import Rotation, output_modes
from ..sampling.paths import Cloud, Counts, Live, Part, crowd, draw_cloud, make_paths, stratum_count, with_room
from ..sampling.sample_paths import draw_sample_cloud
from .plan import MATCHED_PART, Plan

MATCHED = 0.9
"""Dimensions per path whose moments are matched where nothing but moments counts: as many as rounding allows."""


@compiled
def _make_paths(
    site: Site, law: Target, strata: Live | None, counts: Counts, cloud: Cloud, *, room: Counts | None
) -> Paths:
    paths = make_paths(site, law, strata, counts, cloud)
    return paths if room is None else with_room(paths, room, stratum_count(strata))


def make_replica(
    plan: Plan,
    nodes: int,
    counts: Counts,
    number: int,
    *,
    rotation: Rotation | None = None,
    reference: Solution | None = None,
    nearer: Solution | None = None,
    part: Part | None = None,
) -> Replica:
    """Return the replica with that number, or a part of it, with a rougher law and merges if there are such.

    What it settles at depends on the ``reference``, how soon on ``nearer``, the reference itself unless given.
    """
    paths = _paths(plan, counts, make_cloud(plan, nodes, counts, number, rotation, part), part)
    tolerance = put_here(plan.settings.iteration_part * plan.rtol)
    setting = TaskNumbers(plan.task.aspect_ratio, plan.task.error_floor, tolerance)
    merging = make_merging(plan, nodes, rough=part is not None)
    known = (None,) * 3
    if reference is not None and merging is None:
        start = nearer or reference
        known = start.R_w, start.L, reference.L
    room = plan.room(nodes) if merging is None else 1
    first = Reference(*(_with_room(operator, room) for operator in known))
    samples = _samples(plan, nodes, counts, number, reference, part) if plan.sampled else None
    site, setting, first, merging = put_everywhere(plan.mesh, (plan.site, setting, first, merging))
    kind = {"samples": samples, "merging": merging, "mesh": plan.mesh}
    return Replica(site, setting, paths, first, plan.measure, plan.settings.iteration, **kind)


def make_cloud(
    plan: Plan, nodes: int, counts: Counts, number: int, rotation: Rotation | None, part: Part | None = None
) -> Cloud:
    """Return the normals of the replica with that number, or those of a part."""
    rows, rotation = plan.rows(nodes), _agreed(plan, rotation)
    # Where moments alone count, many strata have the same normals: drawing them would cost more than solving.
    alike = plan.exact and crowd(plan.strata) > 1
    leading = None if plan.exact else plan.leading(nodes)
    how = {"alike": alike, "matched": MATCHED if plan.exact else MATCHED_PART, "leading": leading, "part": part}
    rng = _generator(plan, Purpose.PATHS, number)
    return draw_cloud(plan.site, plan.law, plan.strata, plan.room(nodes), rows, counts, rotation, rng, **how)


def make_merging(plan: Plan, nodes: int, *, rough: bool) -> Merging | None:
    """Return the merges as a program sees them; with ``rough`` half as many coefficients, to tell their error."""
    merges = plan.merges(nodes)
    if merges is None:
        return None
    matrices = merging_matrices(CHUNK, merges.highest + 1).copy()
    matrices[:, CHUNK // 2 if rough else CHUNK :] = 0.0
    tables = (merges.places, merges.counts, merges.starts, merges.levels, matrices)
    return Merging(*map(put_here, tables), rows=plan.history(nodes))


def _generator(plan: Plan, purpose: Purpose, number: int) -> np.random.Generator:
    return np.random.default_rng(seed_of(plan.key, purpose, number))


def _paths(plan: Plan, counts: Counts, cloud: Cloud, part: Part | None) -> Paths:
    """Return the paths of a cloud, of a part in arrays of that many."""
    large = cloud.z, cloud.kicks
    if plan.mesh is not None:  # what is large goes to its device directly
        cloud = cloud._replace(z=cloud.z[:0], kicks=cloud.kicks[:0])
    law = plan.law if part is None or plan.rough_law is None else plan.rough_law
    own, room = (counts, None) if part is None else (part.share(counts), part.room)
    paths = _make_paths(plan.site, law, plan.strata, own, cloud, room=room)
    if plan.mesh is None:
        return paths
    copies = 1 if room is None else room.paths // own.paths
    return spread_paths(plan.mesh, paths, *(np.concatenate([x] * copies, axis=-1) for x in large))


def _samples(
    plan: Plan, nodes: int, counts: Counts, number: int, reference: Solution | None, part: Part | None
) -> SamplePaths:
    own, rows = plan.sample_counts(counts), plan.rows(nodes)
    rotation = None if reference is None else _agreed(plan, output_modes(reference))
    teachers, room = math.prod(plan.law.shape), plan.room(nodes)
    noise, rng = plan.site.flow.noise, _generator(plan, Purpose.OUTPUTS, number)
    share = None if noise.batch_fraction is None else float(noise.batch_fraction)
    part = None if part is None else part._replace(room=plan.sample_counts(part.room))
    cloud = draw_sample_cloud(
        teachers, room, rows, own, rotation, share, noise.persistent, rng, leading=plan.leading(nodes), part=part
    )
    if plan.mesh is None:
        normals, teacher, noises, probability, few, masks = map(put_here, cloud)
        return SamplePaths(normals, teacher, noises, probability, few, masks)
    return spread_samples(plan.mesh, cloud)


def _agreed(plan: Plan, rotation: Rotation | None) -> Rotation | None:
    """Return the same modes in all processes: where two are alike, rounding alone tells which is the first."""
    return None if rotation is None else of_first_process(plan.mesh, rotation)


def _with_room(operator: np.ndarray | None, room: int) -> Float[Array, "room room"]:
    if operator is None:
        return put_here(np.zeros((room, room)))
    return put_here(np.pad(operator, (0, room - operator.shape[0])))
