"""The list of deliberate faults fits the source and the tests: read, not run. `benchmarks/mutations.py` plants them."""

import ast
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))
from mutations import LIST, PLACE, read_list  # noqa: E402

FAULTS = read_list()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.number} {fault.file}")
def test_fault_can_be_planted(fault):
    """Its text occurs exactly once, the file still parses with the fault, and the tests that catch it are there."""
    assert fault.count == 1, f"{fault.old!r} occurs {fault.count} times in {fault.file}: mend {LIST.name}"
    assert fault.new != fault.old
    ast.parse((ROOT / PLACE / fault.file).read_text().replace(fault.old, fault.new))
    assert fault.meaning
    assert fault.caught_by
    for test in fault.caught_by:
        file, _, name = test.partition("::")
        assert name.split("[")[0] in functions(file), f"{test} is not there: mend {LIST.name}"


def functions(file):
    tree = ast.parse((ROOT / file).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_faults_are_spread_over_the_formulas():
    """No fault is there twice, and every room of formulas has its share."""
    assert len({(fault.file, fault.old, fault.new) for fault in FAULTS}) == len(FAULTS) >= 40
    rooms = Counter(fault.file.split("/")[0] for fault in FAULTS)
    assert all(rooms[room] >= 8 for room in ("numerics", "problem", "simulation", "asymptotics", "dmft"))
