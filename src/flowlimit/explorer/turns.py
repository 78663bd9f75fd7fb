"""A queue over all sessions: two computations at a time, one that somebody waits for and one that may take long."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from ..numerics.programs import left_to_caller
from .room import Room

Line = Literal["quick", "slow"]
Stop = Callable[[], bool]
"""Whether nobody waits for the answer any more."""
Tell = Callable[[int], None]
"""Is told how many come first."""
LOOK = 0.25
"""Seconds between looks at whether who stands in a line still wants to."""
GIVES_WAY = 20.0
"""Seconds for which what may take long does not begin while others wait for the quick line."""


class Turns:
    """Two lines, in each of which one computes at a time, first come first served.

    What may take long does not begin while somebody waits for something quick, for some seconds: both share the cores.
    Compiled programs belong to the process: they are dropped here, between turns, when nobody computes in either line.
    """

    def __init__(self, room: Room) -> None:
        self._room = room
        self._changed = threading.Condition()
        self._lines: dict[Line, list[object]] = {"quick": [], "slow": []}
        self._computing: set[object] = set()

    @contextmanager
    def turn(self, line: Line, stop: Stop, tell: Tell = lambda before: None) -> Iterator[bool]:
        """Stand in a line; yield True when it is one's turn, or False once nobody waits for the answer any more."""
        me = object()
        with self._changed:
            self._lines[line].append(me)
        try:
            with left_to_caller():
                yield self._come(me, self._lines[line], stop, tell)
        finally:
            with self._changed:
                self._lines[line].remove(me)
                self._computing.discard(me)
                self._changed.notify_all()

    def share(self, line: Line, seconds: float, least: float) -> float:
        """Return how long who computes may take: less if others wait in the line."""
        with self._changed:
            return min(seconds, max(least, seconds / max(1, len(self._lines[line]))))

    def _come(self, me: object, line: list[object], stop: Stop, tell: Tell) -> bool:
        told, began, quick = 0, time.monotonic(), self._lines["quick"]
        with self._changed:
            while not stop():
                before = line.index(me)
                if before != told:
                    tell(before)
                    told = before
                gives_way = line is not quick and quick and time.monotonic() - began < GIVES_WAY
                if before == 0 and not gives_way and self._has_room():
                    self._computing.add(me)
                    return True
                self._changed.wait(LOOK)
        return False

    def _has_room(self) -> bool:
        """Whether to begin: if programs must go first, all who come wait until nobody computes."""
        if not self._room.is_full():
            return True
        if self._computing:
            return False
        self._room.clear()
        return True
