"""Kernels of a solve: from replicas' operators to values with error bars."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from ...numerics.blocks import integration, step_counts
from ...numerics.panel_values import panel_values
from ...results import Kernels, Operators
from ...results.spread import student_factor
from .grid import Grid
from .solution import Solution

Square = Float[np.ndarray, "nodes nodes"]


def make_kernels(grid: Grid, replicas: list[Solution], noise_var: float) -> tuple[Kernels, Operators]:
    """Return kernel values and operators, averaged over replicas."""
    identity, count = np.eye(len(replicas[0].L)), len(replicas)
    of_one = lambda one: {
        "C_w": one.root_w @ one.root_w.T - noise_var * (one.L_w is None) if one.C_w is None else one.C_w,
        "C_f": one.L @ one.L.T,
        "R_w": kernel_values(grid, one.R_w),
        "R_f": kernel_values(grid, identity - one.G),
    }
    mean, square = mean_and_squares(of_one(one) for one in replicas)
    # One replica has no spread: its error is unknown.
    unit = student_factor(count) / np.sqrt(count * (count - 1)) if count > 1 else np.nan
    shaped = lambda matrix: _outputs_last(matrix, grid.nodes)
    stderr = {name: shaped(unit * np.sqrt(value)) for name, value in square.items()}
    kernels = Kernels(grid.times, **{name: shaped(value) for name, value in mean.items()}, stderr=stderr)
    average = lambda name: np.mean([getattr(one, name) for one in replicas], axis=0)
    responses = shaped(average("R_w")), shaped(identity - average("G"))
    return kernels, Operators(grid.times, grid.weights, integration(grid.blocks), *responses)


def mean_and_squares(all_values: Iterable[Mapping[str, np.ndarray]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return means and sums of squared deviations from them, by Welford's update: no two large numbers cancel.

    Examples
    --------
    >>> mean, square = mean_and_squares({"x": np.array([1e8 + i])} for i in range(3))
    >>> float(mean["x"][0]), float(square["x"][0])
    (100000001.0, 2.0)
    """
    mean: dict[str, Any] = {}
    square: dict[str, Any] = {}
    for count, values in enumerate(all_values, start=1):
        for name, value in values.items():
            away = value - mean.get(name, 0.0)
            mean[name] = mean.get(name, 0.0) + away / count
            square[name] = square.get(name, 0.0) + away * (value - mean[name])
    return mean, square


def _outputs_last(square: Float[np.ndarray, "rows rows"], nodes: int) -> Float[np.ndarray, "nodes nodes *outputs"]:
    """Return a kernel of several outputs with two axes for them after those of time."""
    outputs = len(square) // nodes
    return square if outputs == 1 else square.reshape(nodes, outputs, nodes, outputs).transpose(0, 2, 1, 3)


def kernel_values(grid: Grid, operator: Square) -> Square:
    """Return R(t_i, t_j) from the operator: over the weight, and fitted inside diagonal panels."""
    if grid.edges is None:
        step = np.repeat(np.arange(grid.nodes), len(operator) // grid.nodes)
        return np.where(step[:, None] > step[None, :], operator / grid.weights[step], 0.0)
    values = np.tril(operator / grid.weights)
    order, counts = grid.order, step_counts(grid.edges, grid.ruler.step)
    for k, length in enumerate(np.diff(grid.edges)):
        own, fitted = slice(k * order, (k + 1) * order), panel_values(order, float(counts[k]))
        values[own, own] = (fitted @ (operator[own, own] / grid.sizes[own]).ravel()).reshape(order, order) / length
    return values
