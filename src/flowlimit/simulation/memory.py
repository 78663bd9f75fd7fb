"""Memory of runs, before they begin: the data of the trials that run at once, and what is kept of all trials."""

from typing import NamedTuple

from jax.sharding import Mesh

from ..numerics.memory import PROGRAMS
from .programs import TRIAL

CURVES = 5
"""Curves that every run has."""
STATES = 12
"""Arrays of the size of theta that a solver holds: stages, the state and its error."""
PARAMETERS = 2
"""Numbers of theta per coordinate, about: what is small beside the data need not be known well."""


class Sizes(NamedTuple):
    """What decides the memory of runs; ``kept`` and ``saved`` are numbers of times, of weights and of curves."""

    samples: int
    dim: int
    models: int
    trials: int
    kept: int
    saved: int
    observables: int


def memory_bytes(sizes: Sizes, mesh: Mesh) -> int:
    """Return the bytes that runs add to this process: the data of its part of the trials at once, and all results."""
    samples, dim, models, trials, kept, saved, observables = sizes
    part = len(mesh.local_devices) / mesh.size
    at_once = mesh.shape[TRIAL] * dim * (samples + STATES * PARAMETERS * models)
    results = trials * models * (saved * (CURVES + observables) + kept * dim)
    return PROGRAMS + 8 * (int(part * at_once) + results)
