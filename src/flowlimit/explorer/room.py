"""Programs that are kept for runs of different shapes, some 30 MB each: how many there are, and when they must go."""

import threading

import jax

from ..numerics.programs import are_many

MOST_SHAPES = 24
"""Shapes of runs whose programs are kept; then all programs go, so that memory does not grow."""
Shape = tuple[int, int, int]


class Room:
    """What the process has compiled for. Who clears it sees to it that nobody computes meanwhile."""

    def __init__(self) -> None:
        self._shapes: set[Shape] = set()
        self._lock = threading.Lock()

    def note(self, shape: Shape) -> None:
        """Note runs of a shape."""
        with self._lock:
            self._shapes.add(shape)

    def is_full(self) -> bool:
        """Whether programs must go before anything else is compiled."""
        with self._lock:
            many = len(self._shapes) > MOST_SHAPES
        return many or are_many()

    def clear(self) -> None:
        """Drop all compiled programs."""
        with self._lock:
            self._shapes.clear()
        jax.clear_caches()
