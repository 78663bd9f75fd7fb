"""Compiled programs of the server, some 30 MB for each shape of runs: when there are too many, and how they go."""

import threading

from ..numerics.memory import give_back, resident_bytes
from ..numerics.programs import are_many, clear_programs

MOST_SHAPES = 24
"""Shapes of runs whose programs are kept; then all programs go, so that memory does not grow."""
MOST_BYTES = 2**30
"""What the process may grow by before all programs go: limits and figures compile, too."""
Shape = tuple[int, int, int]


class Room:
    """What the process has compiled for. Who clears it sees to it that nobody computes meanwhile."""

    def __init__(self) -> None:
        self._shapes: set[Shape] = set()
        self._held = resident_bytes()
        self._lock = threading.Lock()

    def note(self, shape: Shape) -> None:
        """Note runs of a shape."""
        with self._lock:
            self._shapes.add(shape)

    def knows(self, shape: Shape) -> bool:
        """Whether runs of a shape were noted since programs were dropped."""
        with self._lock:
            return shape in self._shapes

    def is_full(self) -> bool:
        """Whether programs must go before anything else is compiled."""
        with self._lock:
            many = len(self._shapes) > MOST_SHAPES or resident_bytes() - self._held > MOST_BYTES
        return many or are_many()

    def clear(self) -> None:
        """Drop all compiled programs, and return their memory to the system."""
        clear_programs()
        give_back()
        with self._lock:
            self._shapes.clear()
            self._held = resident_bytes()
