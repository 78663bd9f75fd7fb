"""Ctrl-C and SIGTERM as a wish to end: a verb returns what it has so far; a second Ctrl-C ends at once."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

DEFAULTS = (signal.default_int_handler, signal.SIG_DFL)
"""Handlers that are replaced while a verb works; those of a program stay."""


class Wish:
    """Whether the end was asked for since the verb began."""

    def __init__(self) -> None:
        self.made = False

    def note(self, number: int, frame: FrameType | None) -> None:
        """Note a signal; raise `KeyboardInterrupt` at the second one."""
        if self.made:
            raise KeyboardInterrupt
        self.made = True


@contextmanager
def heeded() -> Iterator[Wish]:
    """Yield a wish that the first SIGINT or SIGTERM makes; outside the main thread nothing is heeded.

    A signal that comes while a compiled program runs is noted when that call returns.
    """
    wish = Wish()
    if threading.current_thread() is not threading.main_thread():
        yield wish
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    ours = [number for number, handler in before.items() if handler in DEFAULTS]
    for number in ours:
        signal.signal(number, wish.note)
    try:
        yield wish
    finally:
        for number in ours:
            signal.signal(number, before[number])
