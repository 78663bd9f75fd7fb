"""The grid and the modes of a finished limit, to solve again on."""

import numpy as np

from ...problem.clocks import Clock
from ...results import Limit
from ..readout.grid import Grid, make_grid
from ..readout.ruler import ruler_of
from .modes import Rotation, principal_rotation, relative_effect


def frozen_grid(limit: Limit, clock: Clock) -> tuple[Grid, Rotation]:
    """Return the grid of a limit, with its saved times as far as they were solved, and the modes of its z."""
    edges, held_from = limit.stats.edges, limit.stats.held_from
    saves = limit.times if held_from is None else limit.times[limit.times <= held_from]
    assert limit.kernels is not None
    assert limit.operators is not None
    order = 1 if edges is None else len(limit.kernels.times) // (len(edges) - 1)
    places = None if edges is None else ruler_of(clock, order).places(np.asarray(edges))
    grid = make_grid(clock, places, saves, order)
    values, vectors = np.linalg.eigh(limit.kernels.C_f)
    F = vectors * np.sqrt(np.maximum(values, 0.0))
    return grid, principal_rotation(F, relative_effect(grid, limit.operators.R_w, F))
