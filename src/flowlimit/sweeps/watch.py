"""How a sweep goes: points done, their rate, when it ends, what failed, and how busy each worker is."""

import logging
import time
from collections import defaultdict
from dataclasses import dataclass, field

from .job import Report

LOG = logging.getLogger("flowlimit.sweep")
SECONDS_A_LINE = 10.0
"""Between two lines of the log."""
FEWEST_NAMED = 4
"""More workers than this are summed up."""


@dataclass
class Watch:
    """What is known of a sweep under way."""

    total: int
    known: int = 0
    """Points that were in the store before."""
    done: int = 0
    failed: int = 0
    busy: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    began: float = field(default_factory=time.perf_counter)
    logged: float = float("-inf")

    def add(self, report: Report) -> None:
        """Count a block; once in a while, write a line to the log."""
        self.done += report.points
        self.failed += report.failed
        self.busy[report.worker] += report.seconds
        last = self.known + self.done >= self.total
        if last or time.perf_counter() - self.logged > SECONDS_A_LINE:
            self.logged = time.perf_counter()
            LOG.info("%s", self)

    @property
    def fraction(self) -> float:
        """Part of the points that is in the store."""
        return (self.known + self.done) / self.total

    def __str__(self) -> str:
        elapsed = max(time.perf_counter() - self.began, 1e-9)
        rate = self.done / elapsed
        left = self.total - self.known - self.done
        end = f", {_duration(left / rate)} left" if rate and left else ""
        failed = f", {self.failed} failed" if self.failed else ""
        text = f"{self.known + self.done} of {self.total} points, {rate:.3g}/s{end}{failed}"
        return f"{text}; {self._load(elapsed)}" if self.busy else text

    def _load(self, elapsed: float) -> str:
        loads = {name: min(1.0, busy / elapsed) for name, busy in sorted(self.busy.items())}
        if len(loads) <= FEWEST_NAMED:
            return "load " + ", ".join(f"{name} {load:.0%}" for name, load in loads.items())
        return f"{len(loads)} workers, load {min(loads.values()):.0%} to {max(loads.values()):.0%}"


def _duration(seconds: float | int) -> str:
    """Write a time as people do.

    Examples
    --------
    >>> _duration(59.2), _duration(600), _duration(1e5)
    ('59 s', '10 min', '27.8 h')
    """
    if seconds < 100.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 6000.0 else f"{seconds / 3600.0:.1f} h"
