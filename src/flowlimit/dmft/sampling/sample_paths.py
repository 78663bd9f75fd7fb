"""Paths of the samples side: quasi-random normals with matched moments, the teacher's and the labels' first."""

import numpy as np

from ...numerics.quasirandom import match_moments, sobol_normals
from ..engine.state import SampleCloud
from .modes import Rotation, from_modes, mode_count
from .paths import Counts


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
    half: bool,
) -> SampleCloud:
    """Draw the paths for ``rows`` rows of outputs; with ``half`` half of them, in arrays of the same shape."""
    paths, few = balanced_counts(counts)
    drawn, kept = (paths // 2, few // 2) if half else (paths, few)
    own = teachers + 1  # dimensions before those of the outputs: of the teachers and of the label noise
    cloud = match_moments(sobol_normals(drawn, own + mode_count(rows, rotation, leading), rng))
    normals = np.zeros((room, drawn))
    normals[:rows] = from_modes(cloud[:, own:].T, rows, rotation, rng)
    fill = lambda x: np.concatenate([x, x], axis=-1) if half else x
    weight = lambda count, whole: np.concatenate([np.full(count, 1.0 / count), np.zeros(whole - count)])
    return SampleCloud(
        normals=fill(normals),
        teacher=fill(cloud[:, :teachers].T),
        noise=fill(cloud[:, teachers]),
        probability=weight(drawn, paths),
        few_probability=weight(kept, few),
        masks=fill(_masks(batch_fraction, persistent, room, drawn, rng)),
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
