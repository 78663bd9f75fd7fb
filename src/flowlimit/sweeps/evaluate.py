"""The rows of some points: closed forms as one batch, models that share their data as one batch, others one by one.

Limits of flows begin with the panels and operators of the point before, of the same call, and have a pilot only where
these do not do.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..results import Code, Limit, Outcome
from ..verbs.simulate import simulate
from ..verbs.solve import solve_dmft
from .batched import evaluate_batched, is_batched
from .points import Columns, Points
from .problem import Swept
from .rows import Row, outcome_of, values_of


def evaluate(problem: Swept, points: Points, columns: Columns) -> list[Row]:
    """Return the rows of points; what a point raises is kept as its outcome."""
    if is_batched(problem, points):
        return evaluate_batched(problem, columns)
    if problem.verb in (simulate, solve_dmft):  # a failure of theirs is a code in the result
        problem = Swept(problem.verb, problem.nouns, dict(problem.options) | {"throw": False})
    count = len(next(iter(columns.values())))
    every = [{name: values[i] for name, values in columns.items()} for i in range(count)]
    shared = problem.verb is simulate and all(name.split(".")[0] == "model" for name in columns)
    rows = _together(problem, every) if shared else None
    return rows or (_in_turn(problem, every) if _has_neighbours(problem, columns) else _each(problem, every))


def _has_neighbours(problem: Swept, columns: Columns) -> bool:
    return problem.verb is solve_dmft and "start" not in problem.options and "start" not in columns


def _each(problem: Swept, every: list[dict[str, Any]]) -> list[Row]:
    return [_one(problem, values)[0] for values in every]


def _in_turn(problem: Swept, every: list[dict[str, Any]]) -> list[Row]:
    """Solve limits, each from the last one that was met. Levels of paths are not handed on: points differ in them."""
    rows, start = [], None
    for values in every:
        row, limit = _one(Swept(problem.verb, problem.nouns, dict(problem.options) | {"start": start}), values)
        rows.append(row)
        if isinstance(limit, Limit) and limit.result.code is Code.SUCCESSFUL:
            start = replace(limit, stats=replace(limit.stats, level=None))
    return rows


def _one(problem: Swept, values: Mapping[str, Any]) -> tuple[Row, Any]:
    """Return the row of a point, and what the verb returned."""
    began, result = time.perf_counter(), None
    try:
        result = problem.at(values).evaluate()
        numbers = values_of(result)
        outcome = outcome_of(result, numbers)
    except Exception as error:  # any point may fail in any way: the sweep goes on and says so
        numbers, outcome = {}, Outcome(Code.FAILED, f"{type(error).__name__}: {error}")
    return Row(numbers, outcome, time.perf_counter() - began), result


def _together(problem: Swept, every: list[dict[str, Any]]) -> list[Row] | None:
    """Train models on the same data; None if that fails, to see one by one which of them does."""
    began = time.perf_counter()
    try:
        models = [problem.at(values).nouns["model"] for values in every]
        results = problem.at({"model": models}).evaluate()
    except Exception:
        return None
    seconds = (time.perf_counter() - began) / len(every)
    numbers = [values_of(result) for result in results]
    return [Row(own, outcome_of(result, own), seconds) for result, own in zip(results, numbers, strict=True)]
