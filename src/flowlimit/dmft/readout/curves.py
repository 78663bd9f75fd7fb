"""Curves of a replica at the saved times, and their time errors."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from .grid import Grid
from .measure import OWN, SAMPLED, Measure
from .solution import Solution

NEGLIGIBLE = 1e-3
"""Roots of errors below this part of their initial value (errors below 1e-6 of it) need no relative accuracy."""
TINY = 1e-300
"""Below every size: no division by 0."""

Values = Mapping[str, Float[np.ndarray, "saves"]]


def curves_of(measure: Measure, grid: Grid, solution: Solution) -> Values:
    """Return the curves of one replica at the saved times.

    Errors are squared norms of interpolated roots: the roots are as smooth as paths, errors only half as resolved.
    """
    curves = _curves(measure, grid, solution)
    if solution.initial is None:
        return curves
    return {
        name: np.where(grid.saves > 0.0, curves[name], value)
        for name, value in starts_of(measure, grid, solution).items()
    }


def starts_of(measure: Measure, grid: Grid, solution: Solution) -> Mapping[str, float]:
    """Return the curves of one replica at time 0."""
    if solution.initial is None:  # the first step is time 0
        first = _curves(measure, replace(grid, saves=np.zeros(1)), solution)
        return {name: float(value[0]) for name, value in first.items()}
    *averages, error = map(float, solution.initial)  # outputs of weights that have not seen the data are as on new data
    own = {"train_error": error, "test_error": error, "loss": 0.5 * error + averages[0]}
    own |= {"norm_1": averages[1], "norm_2": float(np.sqrt(max(averages[2], 0.0)))}
    return own | {name: averages[len(OWN) + i] for i, (name, _) in enumerate(measure.observables)}


def _curves(measure: Measure, grid: Grid, solution: Solution) -> Values:
    averages = grid.at_saves(solution.averages)
    if measure.direct:
        train, test, loss, _ = averages[:, -len(SAMPLED) :].T
    else:
        train, test = (grid.squares_at_saves(root) for root in (solution.L, solution.root_w))
        loss = 0.5 * train
    curves = {
        "train_error": train,
        "test_error": test,
        "loss": loss + averages[:, 0],
        "norm_1": averages[:, 1],
        "norm_2": np.sqrt(np.maximum(averages[:, 2], 0.0)),
    }
    return curves | {name: averages[:, len(OWN) + i] for i, (name, _) in enumerate(measure.observables)}


def time_errors(measure: Measure, grid: Grid, solution: Solution) -> Values:
    """Return the time error of each curve: what spectral tails leave open, of its panel and of those before.

    Steps have none; a test error that is a numerical integral has that integral's error.
    """
    if grid.edges is None:  # steps have no error in time
        errors = {name: np.zeros(len(grid.saves)) for name in curves_of(measure, grid, solution)}
        return errors | ({"test_error": grid.to_saves @ solution.averages[:, -1]} if measure.direct else {})
    tail = lambda values: grid.spread(grid.carried(grid.tails(values)))
    train, test = (_root_error(grid, root) for root in (solution.L, solution.root_w))
    of_average = [tail(solution.averages[:, [i]]) for i in range(measure.count)]
    size = np.sqrt(np.maximum(grid.at_saves(solution.averages[:, [2]])[:, 0], 0.0))
    errors = {
        "train_error": train,
        "test_error": test,
        "loss": 0.5 * train + of_average[0],
        "norm_1": of_average[1],
        "norm_2": np.minimum(of_average[2] / np.maximum(2.0 * size, TINY), np.sqrt(of_average[2])),
    }
    errors |= {name: of_average[len(OWN) + i] for i, (name, _) in enumerate(measure.observables)}
    known = grid.saves == 0.0 if solution.initial is not None else np.zeros(len(grid.saves), dtype=bool)
    return {name: np.where(known, 0.0, error) for name, error in errors.items()}


def _root_error(grid: Grid, root: np.ndarray) -> np.ndarray:
    """Return the time error of a squared root's norm; tails are handed on relative to the root's size."""
    relative = grid.spread(grid.carried(_relative_tails(grid, root)))
    at_saves = np.sqrt(grid.squares_at_saves(root))
    return 2.0 * at_saves * np.maximum(at_saves, _floor(root)) * relative


def error_sources(grid: Grid, solution: Solution) -> Mapping[str, Int[np.ndarray, "panels"]]:
    """Return, for either error, the panel that each panel's time error comes from."""
    roots = {"train_error": solution.L, "test_error": solution.root_w}
    return {name: grid.sources(_relative_tails(grid, root)) for name, root in roots.items()}


def _relative_tails(grid: Grid, root: np.ndarray) -> np.ndarray:
    smallest = np.linalg.norm(root, axis=1).reshape(-1, grid.order).min(axis=1)
    return grid.tails(root) / np.maximum(smallest, _floor(root))


def _floor(root: np.ndarray) -> float:
    return NEGLIGIBLE * float(np.linalg.norm(root[0])) + np.finfo(float).tiny
