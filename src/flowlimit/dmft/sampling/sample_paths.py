"""Paths of the samples side: quasi-random normals with matched moments, the teacher's and the labels' first."""

import numpy as np

from ...numerics.quasirandom import match_moments, sobol_normals
from ..engine.state import SampleCloud
from .modes import Rotation, from_modes, mode_count
from .paths import Counts, Part


def draw_sample_cloud(
    teachers: int,
    room: int,
    rows: int,
    counts: Counts,
    rotation: Rotation | None,
    batch_fraction: float | None,
    persistent: bool,
    rng: np.random.Generator,
    *,
    leading: int | None = None,
    part: Part | None,
) -> SampleCloud:
    """Draw the paths for ``rows`` rows of outputs, or a part of them in arrays with more space."""
    whole = balanced_counts(counts)
    own, room_of = (whole, whole) if part is None else (part.share(whole), balanced_counts(part.room))
    places = slice(None) if part is None else part.places(whole.paths)
    first = teachers + 1  # dimensions before those of the outputs: of the teachers and of the label noise
    cloud = match_moments(sobol_normals(whole.paths, first + mode_count(rows, rotation, leading), rng)[places])
    normals = np.zeros((room, own.paths))
    draw = lambda rows: rng.standard_normal((rows, whole.paths))[:, places]
    normals[:rows] = from_modes(cloud[:, first:].T, rows, rotation, draw)
    fill = lambda x: np.tile(x, (1,) * (x.ndim - 1) + (room_of.paths // own.paths,))
    weight = lambda count, size: np.concatenate([np.full(count, 1.0 / count), np.zeros(size - count)])
    return SampleCloud(
        normals=fill(normals),
        teacher=fill(cloud[:, :teachers].T),
        noise=fill(cloud[:, teachers]),
        probability=weight(own.paths, room_of.paths),
        few_probability=weight(own.few, room_of.few),
        masks=fill(_masks(batch_fraction, persistent, room, whole.paths, rng)[:, places]),
    )


def balanced_counts(counts: Counts) -> Counts:
    """Return the numbers of paths that are drawn for those asked for: powers of two, for which Sobol points are even.

    Examples
    --------
    >>> balanced_counts(Counts(6144, 1536))  # as three strata ask for
    Counts(paths=8192, few=2048)
    """
    return Counts(*(1 << (count - 1).bit_length() for count in counts))


def _masks(
    batch_fraction: float | None, persistent: bool, room: int, paths: int, rng: np.random.Generator
) -> np.ndarray:
    """Return which outputs a step sees, over their share; nothing where it sees all."""
    if batch_fraction is None:
        return np.zeros((0, paths))
    draws = np.broadcast_to(rng.random((1, paths)), (room, paths)) if persistent else rng.random((room, paths))
    return (draws < batch_fraction) / batch_fraction
