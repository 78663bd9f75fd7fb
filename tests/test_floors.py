"""Imports point to lower floors only: read from the code, against the table in pyproject.toml."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "flowlimit"
FLOORS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["flowlimit"]["floors"]
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path: Path, source: str) -> set[str]:
    """Rooms of flowlimit that a module imports, at the top or inside a function."""
    folders = list(path.relative_to(PACKAGE).parts[:-1])
    rooms = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = folders[: len(folders) - node.level + 1]
            names = [*base, *(node.module or "").split(".")] if node.module else base
            rooms |= {names[0]} if names else {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "flowlimit":
            parts = node.module.split(".")
            rooms |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            rooms |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("flowlimit.")}
    return {room for room in rooms if not room.startswith("__")}


def violations(path: Path, source: str) -> list[str]:
    room = room_of(path)
    return [
        f"{path.relative_to(PACKAGE)} ({room}, floor {FLOOR_OF[room]}) imports {other} (floor {FLOOR_OF.get(other)})"
        for other in imported_rooms(path, source)
        if other != room and not FLOOR_OF.get(other, len(FLOORS)) < FLOOR_OF[room]
    ]


MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent != PACKAGE or path.name != "__init__.py"]


def test_every_room_has_a_floor():
    assert {room_of(path) for path in MODULES} <= set(FLOOR_OF)


def test_imports_point_down():
    found = [line for path in MODULES for line in violations(path, path.read_text())]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("place", "source"),
    [
        ("numerics/x.py", "from ..problem.laws import Law"),
        ("problem/models/x.py", "def f():\n    from ...simulation import run"),
        ("simulation/x.py", "import flowlimit.verbs.simulate"),
        ("simulation/x.py", "from ..dmft import y"),
        ("types.py", "from . import numerics"),
    ],
)
def test_a_wrong_import_is_found(place, source):
    assert violations(PACKAGE / place, source)


def test_core_does_not_import_plotting():
    for path in MODULES:
        if FLOOR_OF[room_of(path)] < FLOOR_OF["plot"]:
            assert "matplotlib" not in path.read_text(), path
