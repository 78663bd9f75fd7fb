"""Programs that will be asked for are compiled in a thread beside other work."""

from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from .kept import MOST_KINDS
from .precision import own_settings

_BEGUN: set[Hashable] = set()
"""Kinds whose programs were asked for in this process."""


@contextmanager
def beside(kind: Hashable, work: Callable[[], None]) -> Iterator[None]:
    """Do the work of that kind in a thread while what is inside runs, the first time that a process asks for the kind.

    Examples
    --------
    >>> for _ in range(2):
    ...     with beside("example", lambda: print("compiled")):
    ...         pass
    compiled
    """
    if not _is_new(kind):
        yield
        return
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(own_settings()(work))  # settings belong to a thread
        yield
        done.result()


def _is_new(kind: Hashable) -> bool:
    if len(_BEGUN) >= MOST_KINDS:
        _BEGUN.clear()
    new = kind not in _BEGUN
    _BEGUN.add(kind)
    return new
