"""What is remembered of kinds of models: bounded, the oldest goes first, and threads share it."""

import sys
from concurrent.futures import ThreadPoolExecutor

from flowlimit.problem import flow


def test_threads_share_what_is_remembered(monkeypatch):
    """With room for one, each thread drops what the others are about to return."""
    monkeypatch.setattr(flow, "MOST_CHECKED", 1)
    known, interval = {}, sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(3) as pool:
            kinds = [0, 1, 2] * 5000
            found = pool.map(lambda kind: flow._remembered(known, kind, lambda: (kind,)), kinds)
            assert list(found) == [(kind,) for kind in kinds]
    finally:
        sys.setswitchinterval(interval)
    assert len(known) == 1


def test_the_oldest_is_forgotten(monkeypatch):
    monkeypatch.setattr(flow, "MOST_CHECKED", 3)
    known = {}
    for kind in range(5):
        flow._remembered(known, kind, lambda kind=kind: (kind,))
    assert list(known) == [2, 3, 4]
