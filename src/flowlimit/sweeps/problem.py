"""What is evaluated at each point: a verb with its nouns and options, and how an address changes one of them."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from ..problem.checks import LARGEST
from ..problem.noun import Noun
from ..words import hint
from .points import Points


@dataclass(frozen=True)
class Swept:
    """A verb, the nouns it is given in their order, and its keyword arguments."""

    verb: Callable[..., Any]
    nouns: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)

    def evaluate(self) -> Any:
        """Call the verb."""
        return self.verb(*self.nouns.values(), **self.options)

    def at(self, values: Mapping[str, Any]) -> "Swept":
        """Return the problem with other values by address."""
        nouns, options = dict(self.nouns), dict(self.options)
        # The shortest first: a whole noun before one of its fields.
        for address, value in sorted(values.items(), key=lambda item: item[0].count(".")):
            first, *rest = address.split(".")
            if first in nouns:
                nouns[first] = _with(nouns[first], address, rest, value)
            else:
                options[address] = value
        return Swept(self.verb, nouns, options)

    def own(self, address: str) -> Any:
        """Return the problem's own value at an address."""
        first, *rest = address.split(".")
        if first not in self.nouns:
            return self.options.get(address)
        noun = self.nouns[first]
        for name in rest:
            noun = getattr(noun, name)
        return noun


def _with(noun: Any, address: str, path: list[str], value: Any) -> Any:
    if not path:
        return value
    name, *rest = path
    if not isinstance(noun, Noun) or not hasattr(noun, name):
        names = [key for key in noun.to_dict() if key != "kind"] if isinstance(noun, Noun) else []
        has = f"it has {', '.join(names) or 'no fields'}{hint(name, names)}"
        raise ValueError(f"over: given {address!r}, but {type(noun).__name__} has no {name!r}; {has}")
    inner = _with(getattr(noun, name), address, rest, value) if rest else value
    return noun.replaced(**{name: inner})


def check_addresses(problem: Swept, points: Points) -> None:
    """Refuse addresses that lead nowhere, and numbers that a field does not allow, before any work."""
    for name, values in zip(points.names, points.values, strict=True):
        if "." not in name and name not in problem.nouns:
            _check_option(problem.verb, name)
        if name in points.numeric and not all(-LARGEST <= value <= LARGEST for value in values):
            raise ValueError(
                f"over: given NaN, infinity or beyond {LARGEST:g} among the values of {name}; leave it out"
            )
        # Fields allow intervals, so that the ends of a numeric axis say all.
        for value in [min(values), max(values)] if name in points.numeric else values[:1]:
            problem.at({name: value})


def _check_option(verb: Callable[..., Any], name: str) -> None:
    parameters = inspect.signature(verb).parameters
    if name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    options = ", ".join(p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY)
    raise ValueError(
        f"over: given {name!r}, needs 'model.', 'task.' or 'training.' with the name of a field, or an option of "
        f"{verb.__name__}: {options}"
    )


def is_scalar(value: Any) -> bool:
    """Whether a problem's own value is one number that may be traced."""
    return isinstance(value, jax.Array) and np.ndim(value) == 0
