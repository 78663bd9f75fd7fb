"""A problem in a TOML file: tables of the nouns as `to_dict` writes them, and settings of the verbs.

Whatever is wrong is refused with the line it stands in.
"""

import importlib
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Place = tuple[str, ...]
"""Names of tables and of a key, from the outside in."""


class Section(BaseModel):
    """A table of settings: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Solve(Section):
    """Settings of the limit."""

    rtol: float = Field(1e-2, gt=0.0)
    time_limit: float | None = Field(None, gt=0.0)


class Simulate(Section):
    """Settings of runs."""

    dim: int = Field(1000, ge=1)
    trials: int = Field(10, ge=1)


class Check(Section):
    """Settings of a comparison of the two."""

    dims: tuple[int, int] = (200, 800)
    trials: int = Field(20, ge=2)


class ProblemFile(Section):
    """A whole file."""

    imports: tuple[str, ...] = ()
    model: dict[str, Any] = Field(default_factory=lambda: dict(DEFAULTS["model"]))
    task: dict[str, Any] = Field(default_factory=lambda: dict(DEFAULTS["task"]))
    training: dict[str, Any] = Field(default_factory=lambda: dict(DEFAULTS["training"]))
    key: int = Field(0, ge=0)
    solve: Solve = Field(default_factory=lambda: Solve.model_validate({}))
    simulate: Simulate = Field(default_factory=lambda: Simulate.model_validate({}))
    check: Check = Field(default_factory=lambda: Check.model_validate({}))


DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "model": {"kind": "DiagonalLinear", "init_scale": 0.3},
    "task": {
        "kind": "Regression",
        "aspect_ratio": 0.5,
        "noise_var": 0.01,
        "target": {"kind": "Bernoulli", "probability": 0.1},
    },
    "training": {"kind": "GradientFlow", "horizon": 20.0},
}
"""What a file, or a command without one, leaves out."""


class Reader:
    """One file, its text at hand for the lines of what is wrong."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        if path is not None and not path.is_file():
            raise FileNotFoundError(f"{path} does not exist; write one with: flowlimit init {path}")
        self.text = "" if path is None else path.read_text()
        self.file = self._read()
        if self.file.imports:
            sys.path.insert(0, "." if path is None else str(path.parent.resolve()))
            for name in self.file.imports:
                importlib.import_module(name)

    def noun(self, name: str) -> Any:
        """Return the model, the task or the training."""
        return self._noun((name,), getattr(self.file, name))

    def _read(self) -> ProblemFile:
        try:
            return ProblemFile.model_validate(tomllib.loads(self.text))
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{self.path}: {error}; needs TOML, e.g. what flowlimit init writes") from None
        except ValidationError as error:
            first = error.errors()[0]
            place = tuple(map(str, first["loc"]))
            self._refuse(place, f"{'.'.join(place)}: {_words(first)}")

    def _noun(self, place: Place, given: Mapping[str, Any]) -> Any:
        from flowlimit.problem.noun import from_dict

        inner = {
            name: self._noun((*place, name), value) if isinstance(value, dict) and "kind" in value else value
            for name, value in given.items()
        }
        try:
            return from_dict(inner)
        except (ValueError, TypeError) as error:
            named = next((name for name in given if re.search(rf"\b{name}\b", str(error).partition(";")[0])), None)
            self._refuse(place if named is None else (*place, named), str(error))

    def _refuse(self, place: Place, message: str) -> NoReturn:
        line = line_of(self.text, place)
        where = "" if self.path is None else f"{self.path}" + (f", line {line}: " if line else ": ")
        raise ValueError(f"{where}{message}") from None


def _words(error: Any) -> str:
    """Say what pydantic found in our own manner: what was given, and what is needed."""
    if error["type"] == "extra_forbidden":
        return f"unknown; {_known(error['loc'])}"
    return f"given {error['input']!r}; {error['msg'][0].lower()}{error['msg'][1:]}"


def _known(place: tuple[Any, ...]) -> str:
    section: Any = ProblemFile
    for name in place[:-1]:
        section = section.model_fields[name].annotation
    where = f"[{'.'.join(map(str, place[:-1]))}] has" if len(place) > 1 else "a file has"
    return f"{where} {', '.join(section.model_fields)}"


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
        key = re.match(r"\s*([\w.\"-]+)\s*=", line)
        if header:
            table = tuple(part.strip(' "') for part in header[1].split("."))
            here = table
        elif key:
            here = (*table, *(part.strip(' "') for part in key[1].split(".")))
        else:
            continue
        if here == place[: len(here)] and (best is None or len(here) > best[0]):
            best = (len(here), number)
    return None if best is None else best[1]


TEMPLATE = """\
# A problem for flowlimit: {command} {name}
# Every table may be left out; flags of a command come before what stands here.

[model]
kind = "DiagonalLinear" # or Linear; a class of your own as "module:Class", with imports = ["module"] at the top
init_scale = 0.3 # alpha: both layers start at this value
weight_decay = 0.0 # lambda

[task]
kind = "Regression"
aspect_ratio = 0.5 # samples over dim
noise_var = 0.01 # of the labels

[task.target]
kind = "Bernoulli" # coordinates are 1 or 0
probability = 0.1

[training]
kind = "GradientFlow"
horizon = 20.0
# kind = "GradientDescent"
# step_size = 0.1
# num_steps = 200

[solve] # the limit
rtol = 0.01 # relative accuracy of the errors, at two standard errors
# time_limit = 60.0 # seconds

[simulate] # runs at finite size
dim = 1000
trials = 10

[check] # the limit against runs at two sizes
dims = [200, 800]
trials = 20
"""
