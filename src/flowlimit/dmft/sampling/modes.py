"""Modes of z in the order of what they do to the curves: quasi-random points are most even in the first dimensions."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from ..readout.curves import NEGLIGIBLE
from ..readout.grid import Grid
from ..readout.solution import Solution

NO_INNOVATION = 1e-11
"""What is smaller, relative to its row, is rounding: engines keep no innovation below ten times as much."""

Rotation = Float[np.ndarray, "nodes modes"]
"""Orthonormal columns; fewer than nodes where these are many."""
Columns = Float[np.ndarray, "_ columns"]
DrawNormals = Callable[[int], Float[np.ndarray, "rows paths"]]
"""Draws that many rows of normals, a number per path."""


def modes_of(grid: Grid, solution: Solution) -> Rotation:
    """Return the modes of a solve; where its history has fewer rows than steps, as many as it has rows."""
    if not solution.whole:
        size = np.linalg.norm(solution.root_w, axis=1, keepdims=True)
        floor = NEGLIGIBLE * size[0] + np.finfo(float).tiny
        effect = solution.R_w @ solution.L / np.maximum(size, floor)
        return (np.linalg.svd(effect)[2] @ solution.basis).T
    return principal_rotation(solution.L, relative_effect(grid, solution.R_w, solution.L))


def output_modes(solution: Solution) -> Rotation | None:
    """Return the same for the normals of outputs: by what they do to residuals on average, relative to their size."""
    if solution.L_w is None:
        return None
    F = solution.L_w[:, -len(solution.L) :]
    size = np.linalg.norm(solution.L, axis=1)
    floor = NEGLIGIBLE * size[0] + np.finfo(float).tiny
    return principal_rotation(F, solution.G @ F / np.maximum(size, floor)[:, None])


def mode_count(nodes: int, rotation: Rotation | None, leading: int | None) -> int:
    """Return how many modes are drawn as quasi-random points: all, or at most ``leading``."""
    known = nodes if rotation is None else rotation.shape[1]
    return known if leading is None else min(known, leading)


def from_modes(
    modes: Float[np.ndarray, "leading paths"], nodes: int, rotation: Rotation | None, draw: DrawNormals
) -> Float[np.ndarray, "nodes paths"]:
    """Return the normals of all nodes from those of the leading modes; ``draw`` gives rows for what these leave open.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> turn = np.linalg.qr(rng.normal(size=(50, 3)))[0]
    >>> normals = from_modes(np.zeros((3, 10_000)), 50, turn, lambda rows: rng.normal(size=(rows, 10_000)))
    >>> bool(np.abs(turn.T @ normals).max() < 1e-12), bool(abs(normals.var() - 47 / 50) < 0.02)
    (True, True)
    """
    count = len(modes)
    if count == nodes:
        return modes if rotation is None else rotation @ modes
    rest = draw(nodes)
    if rotation is None:
        rest[:count] = modes
        return rest
    own = rotation[:, :count]
    return rest + own @ (modes - own.T @ rest)


def relative_effect(grid: Grid, R_w: Float[np.ndarray, "nodes nodes"], F: Columns) -> Columns:
    """Return what the normals behind F (C_f = F F^T) do to w at each node, on average and relative to the error there.

    Every panel counts the same: panels grow with time, and an error that has become small is to be as accurate as one
    that has not.
    """
    effect = R_w @ F
    size = np.linalg.norm(F + effect, axis=1)
    share = grid.weights.reshape(-1, grid.order)
    share = np.repeat((share / share.sum(axis=1, keepdims=True)).ravel(), len(F) // grid.nodes)
    return (np.sqrt(share) / np.maximum(size, NEGLIGIBLE * size[0] + np.finfo(float).tiny))[:, None] * effect


def principal_rotation(F: Columns, effect: Columns) -> Rotation:
    """Return V such that normals V eta of the lower triangular root of F F^T have their effects in falling order.

    ``effect`` is given by the columns of F; both may be padded with zeros.
    """
    short = max(0, F.shape[0] - F.shape[1])
    F, effect = (np.pad(x, ((0, 0), (0, short))) for x in (F, effect))
    return np.linalg.svd(effect @ _causal(F)[1])[2].T


def average(solutions: Sequence[Solution]) -> Solution:
    """Return the last solution with the operators of all on average, R_w and C_f: a reference with less noise."""
    last, count = solutions[-1], len(solutions)
    if not last.whole:  # each has rows of its own
        return last
    own = _causal(last.L)[0]
    fresh = np.diagonal(own) > NO_INNOVATION * np.linalg.norm(own, axis=1)
    root = _causal(np.concatenate([one.L for one in solutions], axis=1) / np.sqrt(count))[0]
    L = np.where(fresh[None, :], root, 0.0)  # lower triangular, with zero columns for nodes without an innovation
    return replace(last, R_w=np.mean([one.R_w for one in solutions], axis=0), L=L)


def mean_of(solutions: Sequence[Solution]) -> Solution:
    """Return the last solution with the mean R_w and L of all, which have one reference: what another one is near."""
    mean = lambda operators: np.mean(operators, axis=0)
    return replace(solutions[-1], R_w=mean([one.R_w for one in solutions]), L=mean([one.L for one in solutions]))


def _causal(
    F: Float[np.ndarray, "rows columns"],
) -> tuple[Float[np.ndarray, "rows rows"], Float[np.ndarray, "columns rows"]]:
    """Return L and V with F = L V^T, L lower triangular with a diagonal of at least 0; F has no fewer columns."""
    causal, upper = np.linalg.qr(F.T)
    signs = np.where(np.diagonal(upper) < 0.0, -1.0, 1.0)
    return np.tril(upper.T * signs), causal * signs
