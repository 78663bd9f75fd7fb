"""What a user may ask of a run or a limit: times to save, and observables."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..results import Limit, Runs
from ..types import Observable, Times
from .checks import as_float, shown
from .clocks import Clock, Positions
from .flow import Flow
from .functions import called, takes

Observables = tuple[tuple[str, Observable], ...]
RESERVED = ("train_error", "test_error", "loss", "norm_1", "norm_2")
"""Curves that every result has, and that observables may not be named after."""
TAKEN = (*RESERVED, "time", "trial", "replica")
"""Names of other curves and of axes."""
TAKEN_ENDING = "_stderr"


def positions_of(name: str, times: Times | None, clock: Clock) -> Positions:
    """Turn times into positions: steps for gradient descent, times for a flow."""
    if times is None:
        return clock.default_saves()
    fix = f"needs a list of times, e.g. {name}=[0.0, {clock.end:g}]"
    positions = np.asarray(as_float(name, times, fix))
    if positions.ndim != 1 or (name == "save_at" and not len(positions)):
        raise ValueError(f"{name}: given {shown(times)}, {fix}")
    positions = clock.positions_at(name, positions)
    inside = (positions >= 0.0) & (positions <= clock.last * (1.0 + 1e-12))
    if not inside.all() or (np.diff(positions) <= 0.0).any():
        raise ValueError(f"{name}: given {shown(times)}, needs ascending times from 0 to {clock.end:g}")
    return positions


def check_observables(observables: Observables, flow: Flow, *, known: bool = True) -> None:
    """Refuse observables that fail on one coordinate; ``known`` is whether there is a target."""
    w, w_star = jnp.zeros(flow.outputs), jnp.zeros(flow.teachers) if known else None
    for name, function in observables:
        if not takes(function, 2):
            raise ValueError(
                f"observables: given {name!r}, which does not take two arguments, needs a function (w, w_star) -> "
                f"number, e.g. lambda w, w_star: w * w_star"
            )
        words = f"observables: given {name!r}, which fails on w of shape {flow.outputs} and w_star {flow.teachers}"
        found = called(words, function, w, w_star, indices=True)
        if jnp.shape(found) != ():
            raise ValueError(
                f"observables: given {name!r}, with values of shape {jnp.shape(found)} per coordinate, needs one "
                f"number per coordinate, e.g. lambda w, w_star: w * w_star"
            )


def named_observables(observables: Any) -> Observables:
    """Turn a mapping of observables into a tuple, or refuse it."""
    if observables is not None and not isinstance(observables, Mapping):
        example = "{'overlap': lambda w, w_star: w * w_star}"
        raise TypeError(f"observables: given {shown(observables)}, needs names with functions, e.g. {example}")
    items = tuple((observables or {}).items())
    for name, function in items:
        if not isinstance(name, str) or _is_taken(name) or not callable(function):
            raise ValueError(
                f"observables: given {name!r}: {function!r}, needs a name other than {', '.join(TAKEN)} and what else"
                f" a result has as an attribute, without / and not ending in {TAKEN_ENDING}, and a function"
                f" (w, w_star) -> number, e.g. {{'overlap': lambda w, w_star: w * w_star}}"
            )
    return items


def _is_taken(name: str) -> bool:
    """Whether a curve of this name could not be an attribute, or not a variable in a file."""
    attributes = any(hasattr(kind, name) or name in kind.__dataclass_fields__ for kind in (Limit, Runs))
    return not name or name in TAKEN or attributes or name.endswith(TAKEN_ENDING) or "/" in name
