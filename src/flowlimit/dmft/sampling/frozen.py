"""The grid and the modes of a finished limit, to solve again on."""

import numpy as np

from ...problem.clocks import Clock
from ...results import Limit
from ..readout.grid import Grid, make_grid
from .modes import Rotation, principal_rotation, relative_effect


def frozen_grid(limit: Limit, clock: Clock) -> tuple[Grid, Rotation]:
    """Return the grid of a limit and the principal components of its z."""
    edges = limit.stats.edges
    assert limit.kernels is not None
    assert limit.operators is not None
    order = 1 if edges is None else len(limit.kernels.times) // (len(edges) - 1)
    grid = make_grid(clock, None if edges is None else np.asarray(edges), limit.times, order)
    values, vectors = np.linalg.eigh(limit.kernels.C_f)
    F = vectors * np.sqrt(np.maximum(values, 0.0))
    return grid, principal_rotation(F, relative_effect(grid, limit.operators.R_w, F))
