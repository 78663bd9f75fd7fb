"""What a plan draws: the normals of a replica, and all that its program is given."""

import math

import jax
import numpy as np
from jaxtyping import Array, Float

from ...numerics.compiling import compiled
from ...numerics.devices import of_first_process, put_everywhere, put_here
from ...numerics.merges import merging_matrices
from ...numerics.streams import Purpose, stream
from ...problem.laws import Target
from ..engine.history import CHUNK
from ..engine.merging import Merging
from ..engine.replica import Reference, Replica
from ..engine.shards import spread_paths, spread_samples
from ..engine.site import Site
from ..engine.state import Paths, SamplePaths, TaskNumbers
from ..readout.solution import Solution
from ..sampling.modes import Rotation, output_modes
from ..sampling.paths import Cloud, Counts, Live, crowd, doubled_room, draw_cloud, make_paths
from ..sampling.sample_paths import draw_sample_cloud
from .plan import Plan

MATCHED = 0.9
"""Dimensions per path whose moments are matched where nothing but moments counts: as many as rounding allows."""


@compiled
def _make_paths(site: Site, law: Target, strata: Live | None, counts: Counts, cloud: Cloud, *, half: bool) -> Paths:
    paths = make_paths(site, law, strata, counts, cloud)
    return doubled_room(paths) if half else paths


def make_replica(
    plan: Plan,
    nodes: int,
    counts: Counts,
    number: int,
    *,
    rotation: Rotation | None = None,
    reference: Solution | None = None,
    half: bool = False,
) -> Replica:
    """Return the replica with that number; with ``half`` the first half of its net, in arrays of the same shape."""
    own = Counts(counts.paths // 2, counts.few // 2) if half else counts
    paths = _paths(plan, own, make_cloud(plan, nodes, own, number, rotation), half=half)
    tolerance = put_here(plan.settings.iteration_part * plan.rtol)
    setting = TaskNumbers(plan.task.aspect_ratio, plan.task.error_floor, tolerance)
    merging = make_merging(plan, nodes, half=half)
    known = (None, None) if reference is None or merging is not None else (reference.R_w, reference.L)
    room = plan.room(nodes) if merging is None else 1
    first = Reference(*(_with_room(operator, room) for operator in known))
    samples = _samples(plan, nodes, counts, number, reference, half=half) if plan.sampled else None
    site, setting, first, merging = put_everywhere(plan.mesh, (plan.site, setting, first, merging))
    kind = {"samples": samples, "merging": merging, "mesh": plan.mesh}
    return Replica(site, setting, paths, first, plan.measure, plan.settings.iteration, **kind)


def make_cloud(plan: Plan, nodes: int, counts: Counts, number: int, rotation: Rotation | None) -> Cloud:
    """Return the normals of the replica with that number."""
    rows, rotation = plan.rows(nodes), _agreed(plan, rotation)
    # Where moments alone count, many strata have the same normals: drawing them would cost more than solving.
    alike = plan.exact and crowd(plan.strata) > 1
    leading = None if plan.exact else plan.leading(nodes)
    how = {"alike": alike, "matched": MATCHED if plan.exact else 0.5, "leading": leading}
    rng = _generator(plan, Purpose.PATHS, number)
    return draw_cloud(plan.site, plan.law, plan.room(nodes), rows, counts, rotation, rng, **how)


def make_merging(plan: Plan, nodes: int, *, half: bool) -> Merging | None:
    """Return the merges as a program sees them; with ``half`` half as many coefficients, to tell their error."""
    merges = plan.merges(nodes)
    if merges is None:
        return None
    matrices = merging_matrices(CHUNK, merges.highest + 1).copy()
    matrices[:, CHUNK // 2 if half else CHUNK :] = 0.0
    tables = (merges.places, merges.counts, merges.starts, merges.levels, matrices)
    return Merging(*map(put_here, tables), rows=plan.history(nodes))


def _generator(plan: Plan, purpose: Purpose, number: int) -> np.random.Generator:
    return np.random.default_rng(np.asarray(jax.random.key_data(stream(plan.key, purpose, number))))


def _paths(plan: Plan, counts: Counts, cloud: Cloud, *, half: bool) -> Paths:
    """Return the paths of a cloud; with ``half`` as many more, without weight."""
    large = cloud.z, cloud.kicks
    if plan.mesh is not None:  # what is large goes to its device directly
        cloud = cloud._replace(z=cloud.z[:0], kicks=cloud.kicks[:0])
    law = plan.rough_law if half and plan.rough_law is not None else plan.law
    paths = _make_paths(plan.site, law, plan.strata, counts, cloud, half=half)
    if plan.mesh is None:
        return paths
    return spread_paths(plan.mesh, paths, *(np.concatenate([x, x], axis=-1) if half else x for x in large))


def _samples(
    plan: Plan, nodes: int, counts: Counts, number: int, reference: Solution | None, *, half: bool
) -> SamplePaths:
    own, rows = plan.sample_counts(counts), plan.rows(nodes)
    rotation = None if reference is None else _agreed(plan, output_modes(reference))
    teachers, room = math.prod(plan.law.shape), plan.room(nodes)
    noise, rng = plan.site.flow.noise, _generator(plan, Purpose.OUTPUTS, number)
    share = None if noise.batch_fraction is None else float(noise.batch_fraction)
    cloud = draw_sample_cloud(
        teachers, room, rows, own, rotation, share, noise.persistent, rng, leading=plan.leading(nodes), half=half
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
