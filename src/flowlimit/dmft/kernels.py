"""Kernels of a solve: from replicas' operators to values with error bars."""

import numpy as np
from jaxtyping import Float

from ..numerics.blocks import integration
from ..numerics.panel_values import panel_values
from ..results import Kernels, Operators
from .errors import student_factor
from .grid import Grid
from .measure import Solution

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
    total = {name: np.zeros_like(identity) for name in ("C_w", "C_f", "R_w", "R_f")}
    squares = {name: np.zeros_like(identity) for name in total}
    for one in replicas:
        for name, value in of_one(one).items():
            total[name] += value / count
            squares[name] += value**2 / count
    spread = lambda name: np.sqrt(np.maximum(squares[name] - total[name] ** 2, 0.0) / max(count - 1, 1))
    factor = student_factor(count) if count > 1 else np.inf
    shaped = lambda square: _outputs_last(square, grid.nodes)
    stderr = {name: shaped(factor * spread(name)) for name in total}
    kernels = Kernels(grid.times, **{name: shaped(value) for name, value in total.items()}, stderr=stderr)
    mean = lambda name: np.mean([getattr(one, name) for one in replicas], axis=0)
    responses = shaped(mean("R_w")), shaped(identity - mean("G"))
    return kernels, Operators(grid.times, grid.weights, integration(grid.blocks), *responses)


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
    order = grid.order
    for k, length in enumerate(np.diff(grid.edges)):
        own = slice(k * order, (k + 1) * order)
        values[own, own] = (panel_values(order) @ operator[own, own].ravel()).reshape(order, order) / length
    return values
