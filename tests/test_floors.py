"""Imports point to lower floors only: read from the code, against the table in pyproject.toml."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "flowlimit"
TABLE = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["flowlimit"]
FLOORS, ROOMS = TABLE["floors"], TABLE["rooms"]
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


def imported_modules(path: Path, source: str) -> set[tuple[str, ...]]:
    """Modules of flowlimit that a module names with a relative import, as folders and file."""
    folders, found = list(path.relative_to(PACKAGE).parts[:-1]), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = folders[: len(folders) - node.level + 1]
            if node.module:
                found.add((*base, *node.module.split(".")))
            else:
                found |= {(*base, alias.name) for alias in node.names}
    return found


def violations_inside(room: str, path: Path, source: str) -> list[str]:
    """Imports inside a room that do not point to a lower floor of its table."""
    floor_of = {name: floor for floor, names in enumerate(ROOMS[room]) for name in names}
    folders, place = tuple(room.split("/")), path.relative_to(PACKAGE / room).parts[0].removesuffix(".py")
    inside = {module[len(folders)] for module in imported_modules(path, source) if module[: len(folders)] == folders}
    return [
        f"{path.relative_to(PACKAGE)} imports {other}: not on a lower floor of {room}"
        for other in inside
        if other != place and not floor_of[other] < floor_of[place]
    ]


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


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_down_inside_rooms(room):
    modules = [
        path
        for path in sorted((PACKAGE / room).rglob("*.py"))
        if path.parent / path.name != PACKAGE / room / "__init__.py"
    ]
    found = [line for path in modules for line in violations_inside(room, path, path.read_text())]
    assert not found, "\n".join(found)


def test_a_wrong_import_inside_a_room_is_found():
    path = PACKAGE / "dmft" / "engine" / "x.py"
    assert violations_inside("dmft", path, "from ..control.plan import Plan")
    assert violations_inside("dmft/readout", PACKAGE / "dmft/readout/grid.py", "from .curves import curves_of")
    assert not violations_inside("dmft", path, "from ..settings import Iteration")


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
