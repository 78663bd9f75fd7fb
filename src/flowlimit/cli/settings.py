"""The tables of a problem file, and what they hold if nothing is said; unknown keys and wrong values are refused."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..words import Draws, hint
from .reads import as_typed


class Section(BaseModel):
    """A table of settings: unknown keys, NaN and infinity are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def changed(self, given: Mapping[str, Any]) -> Any:
        """Return the table with what flags give (None: not given), checked as in a file."""
        said = {name: value for name, value in given.items() if value is not None}
        try:
            return type(self).model_validate(dict(self) | said) if said else self
        except ValidationError as error:
            first = error.errors()[0]
            name = str(first["loc"][0])
            raise ValueError(f"{as_typed(name)}: {in_words(first)}") from None


class Solve(Section):
    """Settings of the limit."""

    rtol: float = Field(1e-2, gt=0.0)
    time_limit: float | None = Field(None, gt=0.0)


class Simulate(Section):
    """Settings of runs."""

    dim: int = Field(1000, ge=1)
    trials: int = Field(10, ge=1)
    draws: Draws = "balanced"


class Check(Section):
    """Settings of a comparison of the two."""

    dims: tuple[Annotated[int, Field(ge=2)], ...] = Field((200, 800), min_length=1)
    trials: int = Field(20, ge=2)
    draws: Draws = "balanced"


class ProblemFile(Section):
    """A whole file."""

    imports: tuple[str, ...] = ()
    model: dict[str, Any] = Field(default_factory=lambda: dict(DEFAULTS["model"]))
    task: dict[str, Any] = Field(default_factory=lambda: dict(DEFAULTS["task"]))
    training: dict[str, Any] = Field(default_factory=lambda: dict(DEFAULTS["training"]))
    key: int = Field(0, ge=0, lt=2**63)
    solve_dmft: Solve = Field(default_factory=lambda: Solve.model_validate({}))
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


def in_words(error: Any) -> str:
    """Say what pydantic found in this package's manner: what was given, and what is needed."""
    if error["type"] == "extra_forbidden":
        return f"unknown; {_known(error['loc'])}"
    return f"given {error['input']!r}; {error['msg'][0].lower()}{error['msg'][1:]}"


def _known(place: tuple[Any, ...]) -> str:
    section: Any = ProblemFile
    for name in place[:-1]:
        section = section.model_fields[name].annotation
    where = f"[{'.'.join(map(str, place[:-1]))}] has" if len(place) > 1 else "a file has"
    names = list(section.model_fields)
    return f"{where} {', '.join(names)}{hint(str([*place][-1]), names)}"
