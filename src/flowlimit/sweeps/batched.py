"""Closed forms at many points in one compiled call: `fixed_point`, `convergence_rate` and `timescales` under vmap.

Points are batched case by case, since the case decides which equations are solved, in batches of one size: a program is
compiled once, and a point's numbers do not depend on how many stand beside it.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..asymptotics.case import Case, cases_of
from ..asymptotics.fixed_point import fixed_point
from ..asymptotics.rate import NO_RATE, convergence_rate
from ..asymptotics.timescales import timescales
from ..numerics.compiling import compiled
from ..numerics.precision import own_settings
from ..results import Code, Outcome
from .points import Columns, Points
from .problem import Swept, is_scalar
from .rows import Row, Values, outcome_of, values_of

BATCH = 64
VERBS = (fixed_point, convergence_rate, timescales)


def is_batched(problem: Swept, points: Points) -> bool:
    """Whether a sweep changes nothing but scalars of a closed form's nouns.

    Cases are told from the nouns' numbers, so that nouns which only have the form of ours are solved one by one.
    """
    if problem.verb not in VERBS or problem.options or points.numeric != set(points.names):
        return False
    model, task = problem.nouns["model"], problem.nouns["task"]
    if model.diagonal_form() is not model or task.regression_form() is not task:
        return False
    if task.feature_law is not None:  # of many strata each, a batch of which needs too much memory
        return False
    return all("." in name and is_scalar(problem.own(name)) for name in points.names)


@own_settings()
def evaluate_batched(problem: Swept, columns: Columns) -> list[Row]:
    """Return the rows of all points."""
    table = np.column_stack([np.asarray(values, dtype=float) for values in columns.values()])
    rows: dict[int, Row] = {}
    for case, index in _cases(problem, columns, len(table)):
        if case == "threshold" and problem.verb is convergence_rate:
            rows |= {int(i): Row({}, Outcome(Code.FAILED, NO_RATE), 0.0) for i in index}
            continue
        for some in np.split(index, range(BATCH, len(index), BATCH)):
            rows |= zip(map(int, some), _run(problem, tuple(columns), table[some], case), strict=True)
    return [rows[i] for i in range(len(table))]


def _cases(problem: Swept, columns: Columns, count: int) -> Iterator[tuple[Case | None, np.ndarray]]:
    """Yield each case and where it is; one of none for a verb that does not know cases."""
    every = np.arange(count)
    if problem.verb is timescales:
        yield None, every
        return
    of = lambda name: np.broadcast_to(np.asarray(columns.get(name, problem.own(name)), dtype=float), count)
    cases = cases_of(of("model.weight_decay"), of("task.aspect_ratio"))
    for case in dict.fromkeys(cases):
        yield case, every[[own == case for own in cases]]


def _run(problem: Swept, names: tuple[str, ...], table: np.ndarray, case: Case | None) -> list[Row]:
    began = time.perf_counter()
    filled = np.concatenate([table, np.repeat(table[-1:], BATCH - len(table), axis=0)])
    values = _batch(problem.verb, dict(problem.nouns), names, jnp.asarray(filled), case)
    values = {name: np.asarray(value)[: len(table)] for name, value in values.items()}
    seconds = (time.perf_counter() - began) / len(table)
    every = [{name: value[i] for name, value in values.items()} for i in range(len(table))]
    return [Row(own, outcome_of(None, own), seconds) for own in every]


@compiled
def _batch(
    verb: Callable[..., Any],
    nouns: Mapping[str, Any],
    names: tuple[str, ...],
    table: Float[Array, "points names"],
    case: Case | None,
) -> Values:
    options = {} if case is None else {"case": case}

    def one(numbers: Float[Array, "names"]) -> Values:
        values = dict(zip(names, numbers, strict=True))
        return values_of(Swept(verb, nouns, options).at(values).evaluate())

    return jax.vmap(one)(table)
