"""Progress of long work: a bar if somebody watches, or the caller's own function, which may end the work."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from .bar import Bar, find_screen, in_kernel, on_terminal
from .interrupts import Wish, heeded

Progress = bool | Callable[[float, str], Any] | None
"""A bar if somebody watches (None), always (True) or never (False); or a function ``(fraction, message)``."""
SECONDS = 2.0
"""Work that takes less needs no bar."""
_INSIDE: ContextVar[bool] = ContextVar("flowlimit_progress", default=False)
"""Whether work that reports is under way: what it is made of shows no further bars."""


@contextmanager
def reporter(progress: Progress, title: str, *, heed: bool = True) -> Iterator[Callable[[float, str], Any]]:
    """Yield a function ``(fraction, message)``; the work ends early if it returns True, as after a Ctrl-C.

    Work inside of other work leaves signals to that; work that does not ``heed`` them is ended at once, as by default.
    """
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise TypeError(
            f"progress: given {progress!r:.200}, needs None (a bar if somebody watches), True, False or a function "
            f"(fraction, message)"
        )
    with _shown(progress, title) as report, _wish(heed=heed) as wish:
        before = _INSIDE.set(True)
        try:
            yield lambda fraction, message: bool(report(fraction, message)) or wish.made
        finally:
            _INSIDE.reset(before)


def _wish(*, heed: bool) -> AbstractContextManager[Wish]:
    return heeded() if heed and not _INSIDE.get() else nullcontext(Wish())


def is_watched() -> bool:
    """Whether ``progress=None`` shows a bar: to a terminal or a notebook, from its main thread and process.

    ``FLOWLIMIT_PROGRESS=0`` in the environment says that nobody watches, for example where notebooks are executed to
    be published.
    """
    return (
        os.environ.get("FLOWLIMIT_PROGRESS") != "0"
        and not _INSIDE.get()
        and threading.current_thread() is threading.main_thread()
        and multiprocessing.parent_process() is None
        and (in_kernel() or on_terminal())
    )


def _shown(progress: Progress, title: str) -> AbstractContextManager[Callable[[float, str], Any]]:
    if callable(progress):
        return nullcontext(progress)
    if progress or (progress is None and is_watched()):
        return Bar(title, find_screen(), after=0.0 if progress else SECONDS)
    return nullcontext(lambda fraction, message: None)
