"""Rest: when the errors of a training are those of its fixed point, so that curves are held from there on, not solved.

Two errors are at rest at time t if they hardly changed from t over ``rest_factor`` to t, and are where the training is
known to go. The first alone would also be true of a plateau, the second alone where a curve crosses the value at the
fixed point. A training error that tends to 0 cannot cross it: what is left of it is all that can still change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from ..ending import Ending, FindEnding
from ..readout.curves import NEGLIGIBLE, curves_of
from ..readout.grid import Grid
from ..readout.measure import Measure
from ..readout.solution import Solution
from ..settings import PanelSettings

PILOT_ERROR = 0.1
"""Relative error that the few paths of a pilot may have; whether the end was reached is judged again with all paths."""
FAR = 0.1
"""Part of the horizon after which rest is not looked for: how a curve tends to its fixed point is worth more there."""
ERRORS = ("train_error", "test_error")


def at_rest(
    times: Float[np.ndarray, "nodes"],
    errors: Float[np.ndarray, "nodes 2"],
    end: float,
    rtol: float,
    settings: PanelSettings,
    find: FindEnding,
) -> bool:
    """Whether the training and test errors of a pilot, up to the newest node, are at rest."""
    before = times[-1] / settings.rest_factor
    if times[-1] > FAR * end or times[0] > before:
        return False
    scale, allowed = np.maximum(errors[-1], NEGLIGIBLE**2 * errors[0]), settings.rest_part * rtol
    moved = np.abs(errors[times >= before] - errors[-1]).max(axis=0)
    calm = (moved <= allowed * scale) | (errors[-1] <= allowed * scale)
    ending = find() if calm.all() else None
    return ending is not None and bool(np.all(ending.distances(errors[-1]) <= max(rtol, PILOT_ERROR) * scale))


def held_errors(
    measure: Measure, grid: Grid, solutions: Sequence[Solution], ending: Ending, factor: float
) -> Mapping[str, float]:
    """Return an error for holding each curve: how much it moved by a factor in time before, or its distance."""
    assert grid.edges is not None
    end = float(grid.ruler.times(grid.edges[-1:])[0])
    window = replace(grid, saves=np.r_[grid.times[grid.times >= end / factor], grid.saves.max()])
    each = [curves_of(measure, window, one) for one in solutions]
    mean = {name: np.mean([curves[name] for curves in each], axis=0) for name in each[0]}
    moved = {name: float(np.abs(curve - curve[-1]).max()) for name, curve in mean.items()}
    if ending.train_error == 0.0:
        moved["train_error"] = float(mean["train_error"][-1])
    last = np.array([mean[name][-1] for name in ERRORS])
    off: dict[str, float] = dict(zip(ERRORS, ending.distances(last).tolist(), strict=True))
    return {name: max(error, off.get(name, 0.0)) for name, error in moved.items()}
