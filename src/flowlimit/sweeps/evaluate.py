"""The rows of some points: closed forms as one batch, models that share their data as one batch, others one by one."""

import time
from collections.abc import Mapping
from typing import Any

from ..results import Code, Outcome
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
    return rows or [_one(problem, values) for values in every]


def _one(problem: Swept, values: Mapping[str, Any]) -> Row:
    began = time.perf_counter()
    try:
        result = problem.at(values).evaluate()
        numbers = values_of(result)
        outcome = outcome_of(result, numbers)
    except Exception as error:  # any point may fail in any way: the sweep goes on and says so
        numbers, outcome = {}, Outcome(Code.FAILED, f"{type(error).__name__}: {error}")
    return Row(numbers, outcome, time.perf_counter() - began)


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
