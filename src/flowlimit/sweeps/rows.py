"""One point's result as named arrays of numbers, the rows of a store."""

from collections.abc import Mapping
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from ..asymptotics.case import CASES
from ..asymptotics.fixed_point import LARGEST_RESIDUAL, FixedPoint
from ..asymptotics.rate import Rate
from ..asymptotics.timescales import Timescales
from ..results import Code, Outcome
from ..results.answer import Answer
from ..results.record import Record

Values = dict[str, Any]
"""Name -> number or array."""


class Row(NamedTuple):
    """What one point gave; no values if it failed."""

    values: Values
    outcome: Outcome
    seconds: float


@singledispatch
def values_of(result: Any) -> Values:
    """Return a result's numbers by name."""
    if isinstance(result, Mapping):
        return {str(name): value for name, value in result.items()}
    if np.ndim(result) == 0 and np.isrealobj(result) and not isinstance(result, str) and hasattr(result, "__float__"):
        return {"value": result}
    raise TypeError(
        f"the verb returned a {type(result).__name__}; a function of your own returns a number, or a dictionary of "
        f"numbers and arrays by name"
    )


@values_of.register
def _(result: FixedPoint) -> Values:
    return dict(result.own_numbers()) | {"case": np.asarray(float(CASES.index(result.case)))}


@values_of.register
def _(result: Rate) -> Values:
    return values_of(result.point) | {name: getattr(result, name) for name in ("gamma", "train_rate", "test_rate", "u")}


@values_of.register
def _(result: Timescales) -> Values:
    return {name: getattr(result, name) for name in result.NUMBERS}


@values_of.register
def _(result: Record) -> Values:
    return result.numbers()


def outcome_of(result: Any, values: Values) -> Outcome:
    """Return how a point ended: by what the result says of itself, or by what is left of its equations."""
    if isinstance(result, Answer):
        return result.result
    if not float(values.get("residual", 0.0)) <= LARGEST_RESIDUAL:
        return Outcome(Code.TOLERANCE, f"equations solved to {float(values['residual']):.1g} only")
    return Outcome()
