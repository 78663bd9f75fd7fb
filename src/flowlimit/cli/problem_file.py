"""A problem in a TOML file: tables of the nouns as `to_dict` writes them, and settings of the verbs.

Whatever is wrong is refused with the line it stands in.
"""

import importlib
import os
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from .failures import wants_traceback
from .settings import DEFAULTS, ProblemFile, in_words

Place = tuple[str, ...]
"""Names of tables and of a key, from the outside in."""


class Reader:
    """One file, its text at hand for the lines of what is wrong."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.text = "" if path is None else read_text(path)
        try:
            self.file = self._read()
        except RecursionError:
            raise ValueError(f"{path}: given tables or lists too deep in each other, needs a few levels") from None
        self._import()

    def noun(self, name: str) -> Any:
        """Return the model, the task or the training."""
        from flowlimit.problem.models import Model
        from flowlimit.problem.tasks import Task
        from flowlimit.problem.trainings import Training

        noun = self._noun((name,), getattr(self.file, name))
        if not isinstance(noun, {"model": Model, "task": Task, "training": Training}[name]):
            self.refuse((name, "kind"), f"{name}: given {noun!r}, needs a {name}, e.g. {DEFAULTS[name]['kind']}")
        return noun

    def says(self, name: str) -> bool:
        """Whether the file has a table, so that it is not the default."""
        return name in self.file.model_fields_set

    def refuse(self, place: Place, message: str) -> NoReturn:
        """Raise with the line of a place."""
        line = line_of(self.text, place)
        where = "" if self.path is None else f"{self.path}" + (f", line {line}: " if line else ": ")
        raise ValueError(f"{where}{message}") from None

    def _read(self) -> ProblemFile:
        document = self._parse()
        self._refuse_huge((), document)
        try:
            return ProblemFile.model_validate(document)
        except ValidationError as error:
            first = error.errors()[0]
            place = tuple(map(str, first["loc"]))
            self.refuse(place, f"{'.'.join(place)}: {in_words(first)}")

    def _parse(self) -> dict[str, Any]:
        try:
            return tomllib.loads(self.text)
        except ValueError as error:  # TOML's own, or a number of thousands of digits
            why = str(error).partition(";")[0]
            raise ValueError(f"{self.path}: {why}; needs TOML, e.g. what flowlimit init writes") from None

    def _refuse_huge(self, place: Place, value: Any) -> None:
        """Refuse integers that double precision does not hold, wherever they stand."""
        if isinstance(value, dict | list):
            for name, one in value.items() if isinstance(value, dict) else enumerate(value):
                self._refuse_huge((*place, str(name)), one)
        elif isinstance(value, int) and abs(value) >= 2**63:
            self.refuse(place, f"{'.'.join(place)}: given an integer of {len(str(value))} digits, needs one below 2^63")

    def _import(self) -> None:
        if not self.file.imports:
            return
        if not allows_imports():
            names = ", ".join(map(repr, self.file.imports))
            self.refuse(
                ("imports",),
                f"imports: given {names}, code that would run as you; needs flowlimit --allow-imports before the "
                f"command (or FLOWLIMIT_ALLOW_IMPORTS=1), if you know who wrote it",
            )
        sys.path.insert(0, "." if self.path is None else str(self.path.parent.resolve()))
        for name in self.file.imports:
            try:
                importlib.import_module(name)
            except Exception as error:  # a module of the user's own may fail in any way
                if wants_traceback():
                    raise
                why = f"{type(error).__name__}: {error}"
                self.refuse(("imports",), f"imports: given {name!r}, which cannot be imported: {why}")

    def _noun(self, place: Place, given: Mapping[str, Any]) -> Any:
        from flowlimit.problem.noun import from_dict

        inner = {
            name: self._noun((*place, name), value) if isinstance(value, dict) and "kind" in value else value
            for name, value in given.items()
        }
        if not isinstance(given.get("kind", ""), str):
            self.refuse((*place, "kind"), f"kind: given {given['kind']!r}, needs a name, e.g. kind = 'DiagonalLinear'")
        try:
            return from_dict(inner)
        except (ValueError, TypeError, OverflowError) as error:
            said = str(error).partition(";")[0]
            words = re.findall(r"\w+", said)  # no pattern is made of what a file says
            named = next((name for name in given if name in (words if name.isidentifier() else said)), None)
            self.refuse(place if named is None else (*place, named), str(error))


def allows_imports() -> bool:
    """Whether the user lets a problem file run code: a file from elsewhere is data, until somebody says otherwise."""
    return "--allow-imports" in sys.argv[1:] or os.environ.get("FLOWLIMIT_ALLOW_IMPORTS", "0") not in ("", "0")


def read_text(path: Path) -> str:
    """Return the text of a problem file, or say why there is none."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give a file in it, e.g. {path / 'problem.toml'}")
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist; write one with: flowlimit init {path}")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: byte {error.start} is no UTF-8; needs a text file, saved as UTF-8") from None


def line_of(text: str, place: Place) -> int | None:
    r"""Return the line of a key, or of its table, counted from 1; None if neither stands in the text.

    Examples
    --------
    >>> line_of("[task]\nnoise_var = 0.1\n[task.target]\nprobability = 2\n", ("task", "target", "probability"))
    4
    """
    table: Place = ()
    best: tuple[int, int] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[([^\[\]]+)\]", line)
        key = re.match(r"""\s*("[^"]*"|'[^']*'|[\w."'-]+)\s*=""", line)
        if header:
            table = _parts(header[1])
            here = table
        elif key:
            here = (*table, *_parts(key[1]))
        else:
            continue
        if here == place[: len(here)] and (best is None or len(here) > best[0]):
            best = (len(here), number)
    return None if best is None else best[1]


def _parts(key: str) -> Place:
    """Return the names in a dotted key; a quoted one is a single name."""
    key = key.strip()
    if key[0] in "\"'" and key[0] == key[-1] and key.count(key[0]) == 2:
        return (key[1:-1],)
    return tuple(part.strip(" \"'") for part in key.split("."))
