"""A call in a new process: what it took, without what earlier calls have compiled and kept."""

import multiprocessing
import resource
import time
from collections.abc import Callable
from typing import Any


def alone(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float, float]:
    """Return what a function returns, its seconds, and the process's peak of memory in MB; all can be pickled."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (function, *arguments))


def _measured(function: Callable[..., Any], *arguments: Any) -> tuple[Any, float, float]:
    began = time.perf_counter()
    found = function(*arguments)
    return found, time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
