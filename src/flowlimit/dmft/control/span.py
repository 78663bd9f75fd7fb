"""Where panels lie: from the first edge to the last, and which lengths they may have."""

from typing import NamedTuple

import numpy as np

from ...numerics.blocks import Edges
from ...problem.clocks import Clock
from ..readout.ruler import IN_TIME, Ruler

LAST_STRETCH = 1.01
"""Factor by which a panel may be longer than its tail asks for if it is then the last one."""
SAME = 1e-12
"""Relative distance up to which two edges are one."""
ROUNDING = 1e-6
"""Part of the shortest panel that rounding may take from a length."""


class Span(NamedTuple):
    """The first and the last edge on a ruler, and the shortest panel; 0 where panels integrate."""

    begin: float
    end: float
    ruler: Ruler = IN_TIME
    shortest: float = 0.0

    @property
    def step(self) -> float:
        """The step that panels sum over; 0 where they integrate."""
        return self.ruler.step

    def whole(self, length: float) -> float:
        """Return the longest length up to a given one that a panel may have, or the shortest there is."""
        return max(1.0, np.floor(length / self.shortest + ROUNDING)) * self.shortest if self.step else length

    def half(self, length: float) -> float | None:
        """Return the first part of a panel that is halved; None for a shortest one."""
        first = self.whole(length / 2.0)
        return first if first < (1.0 - ROUNDING) * length else None

    def held_from(self, edges: Edges) -> float | None:
        """Return the time at which panels stop before the last edge; None if they go all the way."""
        short = edges[-1] < self.end - max(SAME * self.end, self.shortest / 2.0)
        return float(self.ruler.times(edges[-1:])[0]) if short else None

    def next_edge(self, start: float, length: float, known: Edges) -> float:
        """Return where a panel that begins at ``start`` ends: where a known one does, or after about ``length``."""
        ahead = known[known > start + max(self.shortest / 2.0, SAME * start)]
        if len(ahead):
            return start + self.whole(ahead[0] + self.shortest / 2.0 - start) if self.step else float(ahead[0])
        left = self.end - start
        if left <= LAST_STRETCH * length:
            return self.end
        return start + self.whole(min(length, left / 2.0) if left < 2.0 * length else length)

    def resolved(self, start: float, end: float, order: int, tolerance: float) -> Edges:
        """Return the edges of a panel, shortened until schedules are polynomials on it."""
        own = np.array([start, end])
        while self.ruler.unresolved(own, order) > tolerance:
            shorter = self.half(float(own[1] - own[0]))
            assert shorter is not None  # on the shortest panel every step is a node
            own = np.array([start, start + shorter])
        return own


def smooth_panels(span: Span, order: int, tolerance: float) -> int:
    """Return how many panels schedules alone ask for."""
    count, edge, length = 0, span.begin, span.end - span.begin
    while edge < span.end - span.shortest / 2.0:
        last = span.next_edge(edge, length, np.zeros(0))
        edge, length = (float(x) for x in span.resolved(edge, last, order, tolerance)[[1, 0]])
        length, count = 2.0 * (edge - length), count + 1
    return count


def span_of(clock: Clock, order: int, ruler: Ruler) -> Span:
    """Return where the panels of a clock lie.

    Panels that sum have a multiple of ``order`` steps each: the shortest has all its steps as nodes, and a longer one
    can be halved. So the last one may go on for a few steps after the end.
    """
    if clock.steps is None:
        return Span(0.0, clock.end)
    step, groups = ruler.step, -(-clock.save_count // order)
    return Span(-0.5 * step, (groups * order - 0.5) * step, ruler, order * step)
