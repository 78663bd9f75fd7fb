"""The nodes of a solve, and the times its curves are given at."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from ...numerics.blocks import Blocks, Edges, gauss_rule, interpolation, panels, panels_of, steps
from ...problem.clocks import Clock

Saves = Float[np.ndarray, "saves"]


@dataclass(frozen=True)
class Grid:
    """Blocks of nodes, on panels between ``edges`` or on steps (``edges`` None), and the saved times."""

    blocks: Blocks
    edges: Edges | None
    saves: Saves

    @property
    def order(self) -> int:
        """Nodes per block."""
        return self.blocks.times.shape[1]

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self.blocks.times.size

    @cached_property
    def times(self) -> Float[np.ndarray, "nodes"]:
        """Times of the nodes."""
        return np.asarray(self.blocks.times).ravel()

    @cached_property
    def weights(self) -> Float[np.ndarray, "nodes"]:
        """Integration weights of the nodes."""
        return np.asarray(self.blocks.weights).ravel()

    @cached_property
    def to_saves(self) -> Float[np.ndarray, "saves nodes"]:
        """The matrix from values at nodes to values at the saved times."""
        return self.interpolate(self.saves)

    def interpolate(self, wanted: Saves) -> Float[np.ndarray, "wanted nodes"]:
        """Return the matrix from values at nodes to values at given times; of steps, the nearest one's."""
        if self.edges is not None:
            return interpolation(self.edges, self.order, wanted)
        return np.eye(self.nodes)[np.abs(self.times[None, :] - wanted[:, None]).argmin(axis=1)]

    def spread(self, per_block: Float[np.ndarray, "blocks"]) -> Saves:
        """Return each saved time's number from one number per block."""
        if self.edges is None:
            return np.zeros(len(self.saves))
        return per_block[panels_of(self.edges, self.saves)]

    def tails(self, values: Float[np.ndarray, "nodes columns"]) -> Float[np.ndarray, "blocks"]:
        """Return the size of what each panel leaves unresolved, see `panel_tail`; steps leave nothing."""
        if self.edges is None:
            return np.zeros(self.nodes)
        return np.array([panel_tail(rows) for rows in values.reshape(-1, self.order, values.shape[1])])

    @staticmethod
    def carried(tails: Float[np.ndarray, "blocks"]) -> Float[np.ndarray, "blocks"]:
        """Return each panel's tail, or what the largest tail before it hands on, if that is more.

        Collocation is far more accurate at a panel's end than inside it, so little is handed on: a hundredth of the
        tail was seen, a tenth is allowed for.
        """
        return np.maximum(tails, HANDED_ON * np.maximum.accumulate(tails))

    @staticmethod
    def sources(tails: Float[np.ndarray, "blocks"]) -> Int[np.ndarray, "blocks"]:
        """Return which panel's tail `carried` gives each panel: the panel's, or the largest one before it."""
        panels, largest = np.arange(len(tails)), np.maximum.accumulate(tails)
        before = np.maximum.accumulate(np.where(tails == largest, panels, 0))
        return np.where(tails >= HANDED_ON * largest, panels, before)


HANDED_ON = 0.1
GUARD = 0.2
"""Part of a panel's last but one coefficient that counts as unresolved."""


def panel_tail(rows: Float[np.ndarray, "order columns"]) -> float:
    """Return the size of what one panel leaves unresolved: its last Legendre coefficients, over all columns.

    Coefficients fall geometrically, so the last one bounds the rest; the last but one guards against a last one that
    happens to vanish, as parity can make it.
    """
    size = np.linalg.norm(gauss_rule(len(rows)).transform @ rows, axis=1)
    return float(max(size[-1], GUARD * size[-2]))


def make_grid(clock: Clock, edges: Edges | None, saves: Saves, order: int) -> Grid:
    """Return the grid of a clock; a continuous one needs edges, and has ``order`` nodes per panel."""
    if clock.steps is not None:
        return Grid(steps(clock.steps.sizes()), None, saves)
    if edges is None:
        raise ValueError("edges: given none, needs the edges of the panels")
    return Grid(panels(edges, order), edges, saves)
