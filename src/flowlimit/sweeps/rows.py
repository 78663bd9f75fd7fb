"""One point's result as named arrays of numbers, the rows of a store."""

from collections.abc import Mapping
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from ..asymptotics.case import CASES
from ..asymptotics.fixed_point import LARGEST_RESIDUAL, FixedPoint
from ..asymptotics.rate import Rate
from ..asymptotics.timescales import Timescales
from ..results import Code, Estimate, Limit, Outcome, Runs
from ..results.estimate import PARTS
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
    numbers = {name: getattr(result, name) for name in result.NUMBERS}
    return numbers | {"case": np.asarray(float(CASES.index(result.case)))}


@values_of.register
def _(result: Rate) -> Values:
    return values_of(result.point) | {name: getattr(result, name) for name in ("gamma", "train_rate", "test_rate", "u")}


@values_of.register
def _(result: Timescales) -> Values:
    return {name: getattr(result, name) for name in result.NUMBERS}


@values_of.register
def _(result: Record) -> Values:
    curves = {name: curve.value for name, curve in result.curves.items()}
    errors = {f"{name}_stderr": curve.stderr for name, curve in result.curves.items()}
    return {"time": result.times} | curves | errors | (_trials(result) if isinstance(result, Runs) else {})


@values_of.register
def _(result: Estimate) -> Values:
    parts = {f"{name}_{part}": getattr(result, part)[name] for part in PARTS for name in result.curves}
    stopping = {} if result.stopping is None else {f"stopping_{k}": v for k, v in result.stopping._asdict().items()}
    curves = {f"{name}{end}": getattr(result, f"{name}{end}") for name in result.curves for end in ("", "_stderr")}
    return {"time": result.times} | curves | parts | stopping


def _trials(runs: Runs) -> Values:
    """Return the errors of every trial, and the weights where they were kept."""
    values = {f"{name}_trials": runs.values[name] for name in ("train_error", "test_error") if name in runs.values}
    kept = {"weights": runs.weights, "w_star": runs.w_star}
    return values | {name: value for name, value in kept.items() if value is not None}


def outcome_of(result: Any, values: Values) -> Outcome:
    """Return how a point ended: by what the result says of itself, or by what is left of its equations."""
    if isinstance(result, Limit | Runs | Estimate):
        return result.result
    if not float(values.get("residual", 0.0)) <= LARGEST_RESIDUAL:
        return Outcome(Code.TOLERANCE, f"equations solved to {float(values['residual']):.1g} only")
    return Outcome()
