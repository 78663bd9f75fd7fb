"""A time limit that counts from the user's call on."""

import threading
import time
from typing import Any

from jax.sharding import Mesh

from .devices import any_process
from .memory import as_finite
from .shown import shown


class OutOfTimeError(Exception):
    """The time allowed is over."""


class Deadline:
    """A time limit in seconds, or none; processes that work together agree on whether it is over.

    Threads that work towards one answer share it: `cut` ends them all before their time.

    Examples
    --------
    >>> Deadline(None).allows(1e9), Deadline(10.0).allows(11.0)
    (True, False)
    """

    def __init__(self, limit: float | None, mesh: Mesh | None = None) -> None:
        self.began, self.limit, self.mesh = time.perf_counter(), limit, mesh
        self._cut = threading.Event()

    def shared_by(self, mesh: Mesh | None) -> "Deadline":
        """Return the same deadline for the processes of a mesh."""
        self.mesh = mesh
        return self

    @property
    def spent(self) -> float:
        """Seconds since the call."""
        return time.perf_counter() - self.began

    def allows(self, seconds: float = 0.0) -> bool:
        """Whether that many seconds more are within the limit."""
        return self.limit is None or not any_process(self.mesh, self.spent + seconds > self.limit)

    def check(self) -> None:
        """Raise `OutOfTimeError` if the time is over, or was cut short."""
        if self._cut.is_set() or not self.allows():
            raise OutOfTimeError

    def cut(self) -> None:
        """Let all checks from now on raise."""
        self._cut.set()


def checked_seconds(name: str, seconds: Any) -> float | None:
    """Return a time limit, or refuse what is none.

    Examples
    --------
    >>> checked_seconds("time_limit", 5)
    5.0
    """
    if seconds is None:
        return None
    number = as_finite(seconds)
    if not number > 0.0:
        raise ValueError(
            f"{name}: given {shown(seconds)}, needs seconds above 0, or None for no limit, e.g. {name}=60.0"
        )
    return number
