"""The load test at a small size: every session is answered or told to wait."""

import asyncio
import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("panel")

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "explorer_sessions.py"


@pytest.mark.slow
def test_sessions_are_answered_or_told_to_wait():
    spec = importlib.util.spec_from_file_location("explorer_sessions", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    seen = asyncio.run(module.load(3, 0.6))
    print(seen.report())
    assert seen.silent == []
    assert seen.heard == {0, 1, 2}
    assert seen.opened  # the first answer may take longer than this where programs are compiled anew
    assert max(seen.sizes) < 4000.0
