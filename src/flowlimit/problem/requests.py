"""What a user may ask of a run or a limit: times to save, and observables."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..results import Limit, Runs
from ..types import Observable, Times
from .checks import as_float, shown
from .clocks import ContinuousClock, StepClock
from .flow import Flow
from .functions import called

Positions = Float[np.ndarray, "_"]
Observables = tuple[tuple[str, Observable], ...]
RESERVED = ("train_error", "test_error", "loss", "norm_1", "norm_2")
"""Curves that every result has, and that observables may not be named after."""
TAKEN = (*RESERVED, "time", "trial", "replica")
"""Names of other curves and of axes."""
TAKEN_ENDING = "_stderr"

LOG_GRID_DECADES = 4
LOG_GRID_POINTS = 94


def log_grid(horizon: float) -> Positions:
    """0, the horizon, and a log grid over four decades: the times a flow saves unless told otherwise."""
    return np.r_[0.0, np.geomspace(horizon * 10.0**-LOG_GRID_DECADES, horizon, LOG_GRID_POINTS)]


def positions_of(name: str, times: Times | None, clock: Any) -> Positions:
    """Turn times into positions: steps for gradient descent, times for a flow."""
    last = float(clock.num_steps if isinstance(clock, StepClock) else clock.horizon)
    end = float(times_at(clock, np.array([last]))[0])
    if times is None:
        return log_grid(last) if isinstance(clock, ContinuousClock) else np.arange(last + 1.0)
    fix = f"needs a list of times, e.g. {name}=[0.0, {end:g}]"
    positions = np.asarray(as_float(name, times, fix))
    if positions.ndim != 1 or (name == "save_at" and not len(positions)):
        raise ValueError(f"{name}: given {shown(times)}, {fix}")
    if isinstance(clock, StepClock):
        positions = _steps_at(name, positions, clock)
    inside = (positions >= 0.0) & (positions <= last * (1.0 + 1e-12))
    if not inside.all() or (np.diff(positions) <= 0.0).any():
        raise ValueError(f"{name}: given {shown(times)}, needs ascending times from 0 to {end:g}")
    return positions


def _steps_at(name: str, times: Positions, clock: StepClock) -> Positions:
    """Return the steps at given times, or refuse times between steps; times outside stay outside."""
    if clock.is_even:
        positions = times / float(clock.step_size)
        steps = np.round(positions)
    else:
        starts = clock.times()
        steps = np.abs(starts[None, :] - times[:, None]).argmin(axis=1).astype(float)
        positions = steps + (times - starts[steps.astype(int)]) / float(np.min(np.asarray(clock.step_size)))
    between = np.abs(steps - positions) > 1e-6
    if between.any():
        which = ", ".join(f"{t:g}" for t in times[between][:3])
        sizes = f"multiples of the step size {float(clock.step_size):g}" if clock.is_even else "times of steps"
        raise ValueError(f"{name}: given {which}, between steps; needs {sizes}")
    return steps


def times_at(clock: Any, positions: Positions) -> Positions:
    """Return the times of positions: of steps, or times themselves."""
    return clock.times()[positions.astype(int)] if isinstance(clock, StepClock) else positions


def check_observables(observables: Observables, flow: Flow, *, known: bool = True) -> None:
    """Refuse observables that fail on one coordinate; ``known`` is whether there is a target."""
    w, w_star = jnp.zeros(flow.outputs), jnp.zeros(flow.teachers) if known else None
    for name, function in observables:
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
