"""The nodes of a solve, and the times its curves are given at."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from ...numerics.blocks import Blocks, Edges, Interpolation, interpolation, panels_of, step_counts, steps
from ...numerics.gauss import gauss_rule
from ...problem.clocks import Clock
from .ruler import IN_TIME, Ruler, ruler_of

Saves = Float[np.ndarray, "saves"]


@dataclass(frozen=True)
class Grid:
    """Blocks of nodes, on panels between ``edges`` or on steps (``edges`` None), and the saved times.

    Edges lie on the ruler: in time, or in step numbers where steps have unequal sizes.
    """

    blocks: Blocks
    edges: Edges | None
    saves: Saves
    ruler: Ruler = IN_TIME

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
    def sizes(self) -> Float[np.ndarray, "nodes"]:
        """Sizes of steps at the nodes of panels, over the ruler's step: 1, unless there is a schedule."""
        assert self.edges is not None
        return self.ruler.sizes_on(self.edges, self.order).ravel()

    @cached_property
    def places(self) -> Saves:
        """Where the saved times lie between the edges."""
        return self.ruler.places(self.saves)

    @cached_property
    def to_saves(self) -> Float[np.ndarray, "saves nodes"]:
        """The matrix from values at nodes to values at the saved times."""
        return self.interpolate(self.saves)

    def interpolate(self, wanted: Saves) -> Float[np.ndarray, "wanted nodes"]:
        """Return the matrix from values at nodes to values at given times; of steps, the nearest one's."""
        if self.edges is not None:
            places = self.ruler.places(wanted)
            return interpolation(self.edges, self.order, places, self.ruler.step).dense(len(self.edges) - 1)
        return np.eye(self.nodes)[np.abs(self.times[None, :] - wanted[:, None]).argmin(axis=1)]

    def at_saves(self, values: Float[np.ndarray, "nodes columns"]) -> Float[np.ndarray, "saves columns"]:
        """Return values at the saved times from values at nodes."""
        return self._of_saves(lambda rows: rows, values)

    def squares_at_saves(self, root: Float[np.ndarray, "nodes columns"]) -> Saves:
        """Return squared norms of a root's rows at the saved times."""
        return self._of_saves(lambda rows: np.sum(rows**2, axis=1), root)

    def _of_saves(self, function: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> np.ndarray:
        if self.edges is None:
            return function(self.to_saves @ values)
        return self._interpolation.apply(function, values)

    @cached_property
    def _interpolation(self) -> Interpolation:
        """What leads from nodes of panels to the saved times: every curve of every replica asks for it."""
        assert self.edges is not None
        return interpolation(self.edges, self.order, self.places, self.ruler.step)

    def spread(self, per_block: Float[np.ndarray, "blocks"]) -> Saves:
        """Return each saved time's number from one number per block."""
        if self.edges is None:
            return np.zeros(len(self.saves))
        return per_block[panels_of(self.edges, self.places)]

    def tails(self, values: Float[np.ndarray, "nodes columns"]) -> Float[np.ndarray, "blocks"]:
        """Return the size of what each panel leaves unresolved, see `panel_tail`; steps leave nothing."""
        if self.edges is None:
            return np.zeros(self.nodes)
        parts, counts = values.reshape(-1, self.order, values.shape[1]), step_counts(self.edges, self.ruler.step)
        # A panel that has all its steps as nodes leaves nothing.
        tails = (panel_tail(*one) if one[1] > self.order else 0.0 for one in zip(parts, counts, strict=True))
        return np.array(list(tails))

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


def panel_tail(rows: Float[np.ndarray, "order columns"], count: float = math.inf) -> float:
    """Return the size of what one panel leaves unresolved: its last Legendre coefficients, over all columns.

    On a panel that sums over ``count`` steps, coefficients of Gram's polynomials take their place.

    Coefficients fall geometrically, so the last one bounds the rest; the last but one guards against a last one that
    happens to vanish, as parity can make it.
    """
    size = np.linalg.norm(gauss_rule(len(rows), float(count)).transform @ rows, axis=1)
    return float(max(size[-1], GUARD * size[-2]))


def make_grid(clock: Clock, edges: Edges | None, saves: Saves, order: int) -> Grid:
    """Return the grid of a clock, with ``order`` nodes per panel; a clock in steps without edges has every step.

    What is saved after the last panel is what is there at its last time.
    """
    if edges is not None:
        ruler = ruler_of(clock, order)
        last = float(ruler.times(edges[-1:] - ruler.step / 2.0)[0])  # that has a node's place
        return Grid(ruler.panels(edges, order), edges, np.minimum(saves, last), ruler)
    if clock.steps is None:
        raise ValueError("edges: given none, needs the edges of the panels")
    return Grid(steps(clock.steps.sizes()), None, saves)
