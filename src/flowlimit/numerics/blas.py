"""Threads of NumPy's and SciPy's linear algebra, which the compiled programs call for their factorisations as well.

Replicas are solved side by side, a thread each. Factorisations of their small matrices on further threads, as many
as there are cores, wait for each other: on two cores limits took up to twice as long.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class _Limit:
    """The one limit of a process: set by the first that asks, gone with the last."""

    def __init__(self) -> None:
        self.lock, self.users = Lock(), 0
        self.held: Any = None

    def take(self) -> None:
        with self.lock:
            if self.users == 0:
                import scipy.linalg  # noqa: F401  the library has to be there; compiled programs load it, too

                self.held = ThreadpoolController().limit(limits=1, user_api="blas")
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.held.restore_original_limits()


_LIMIT = _Limit()


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Let each caller's linear algebra have one thread; ``@one_thread_each()`` makes a function do so.

    Numbers of threads are the process's: other work in it has one thread, too, until the last caller is back.

    Examples
    --------
    >>> import numpy as np
    >>> with one_thread_each():
    ...     float(np.linalg.det(np.eye(3)))
    1.0
    """
    _LIMIT.take()
    try:
        yield
    finally:
        _LIMIT.leave()
