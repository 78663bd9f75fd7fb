"""Who runs the blocks: this process, or anything with ``submit``: Dask, or an executor of concurrent.futures."""

import concurrent.futures as cf
import time
from collections.abc import Iterator, Sequence
from typing import Any

from ..results import FlowlimitError
from .job import Job, Report, run

AHEAD = 2
"""Blocks that wait at each worker's door while it works on one."""
SECONDS_A_LOOK = 1.0
"""Between two looks at how many workers there are: clusters grow and shrink."""


def run_all(jobs: Sequence[Job], executor: Any) -> Iterator[Report]:
    """Yield the report of each block as it is done; blocks whose workers died are named after all others."""
    if executor is None:
        yield from map(run, jobs)
        return
    lost: list[tuple[int, BaseException]] = []
    waiting: dict[cf.Future, int] = {}
    pool, left = _pool(executor), iter(jobs)
    room, looked = 0, float("-inf")
    try:
        while True:
            if time.monotonic() - looked > SECONDS_A_LOOK:
                room, looked = (1 + AHEAD) * workers_of(executor), time.monotonic()
            # Few at a time: a future that is let go when its block is done is not computed again if its worker dies.
            while len(waiting) < room and (job := next(left, None)) is not None:
                waiting[pool.submit(run, job)] = job.block
            if not waiting:
                break
            for future in cf.wait(waiting, SECONDS_A_LOOK, cf.FIRST_COMPLETED).done:
                block = waiting.pop(future)
                error = future.exception()
                if error is None:
                    yield future.result()
                else:
                    lost.append((block, error))
    finally:
        for future in waiting:
            future.cancel()
    if lost:
        block, error = lost[0]
        raise FlowlimitError(
            f"{len(lost)} blocks were lost, block {block} by {type(error).__name__}: {error}; all others are in the "
            f"store, and the same call again computes what is missing"
        )


def _pool(executor: Any) -> Any:
    # Dask's own futures know nothing of concurrent.futures; its executor wraps them.
    return executor.get_executor(pure=False) if hasattr(executor, "get_executor") else executor


def workers_of(executor: Any) -> int:
    """Return how many blocks run at once."""
    if hasattr(executor, "nthreads"):
        return max(1, sum(executor.nthreads().values()))
    return getattr(executor, "_max_workers", 1)


def check_executor(executor: Any) -> None:
    """Refuse what has no ``submit``, and processes that would hang."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(
            f"executor: given {executor!r}, needs a Dask client, e.g. distributed.Client('tcp://...'), an executor of "
            f"concurrent.futures, or None"
        )
    context = getattr(executor, "_mp_context", None)
    if context is not None and context.get_start_method() == "fork":
        raise ValueError(
            "executor: given a ProcessPoolExecutor that forks, in whose processes jax waits for ever; needs processes "
            "that start anew: ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('spawn'))"
        )
