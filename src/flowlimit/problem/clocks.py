"""How time runs, and the noise of steps."""

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Int

from ..types import Scalar
from .checks import as_float, check_entries, number

Positions = Float[np.ndarray, "_"]
"""Where a clock stands: steps on a clock that runs in steps, else times."""
LOG_GRID_DECADES = 4
LOG_GRID_POINTS = 94
READ_FROM = 4
"""Steps that a schedule is read from between two of them."""
MOST_SCHEDULED = 10**6
"""Steps of a schedule: it is kept in memory, and a function of the step is called for each."""


class Clock(eqx.Module):
    """How time runs: continuously up to a horizon (`ContinuousClock`), or in steps (`StepClock`).

    A *position* is a step number on a clock that runs in steps, and a time otherwise. Solver and simulator ask these
    methods and `steps`; they have one algorithm for each of the two answers that `steps` gives.
    """

    @property
    @abc.abstractmethod
    def steps(self) -> "StepClock | None":
        """The sizes and times of steps, if time runs in steps; None if it runs continuously."""

    @property
    def in_steps(self) -> bool:
        """Whether time runs in steps."""
        return self.steps is not None

    @property
    @abc.abstractmethod
    def last(self) -> float:
        """The last position: a number of steps, or the time of the end."""

    @property
    @abc.abstractmethod
    def save_count(self) -> int:
        """How many positions `default_saves` returns, known without making them."""

    @abc.abstractmethod
    def default_saves(self) -> Positions:
        """Return the positions that are saved unless told otherwise: shape (save_count,), from 0 up to `last`."""

    @abc.abstractmethod
    def positions_at(self, name: str, times: Positions) -> Positions:
        """Return the positions at given times, of the same shape, or refuse times between steps.

        Times outside of the clock's range stay outside; ``name`` is the argument that a refusal speaks of.
        """

    @abc.abstractmethod
    def times_at(self, positions: Positions) -> Positions:
        """Return the times of positions, of the same shape."""

    @property
    def end(self) -> float:
        """The time of the last position."""
        return float(self.times_at(np.array([self.last]))[0])


class ContinuousClock(Clock):
    """Time from 0 to the horizon."""

    horizon: Scalar

    @property
    def steps(self) -> None:
        """None: time runs continuously."""
        return None

    @property
    def last(self) -> float:
        """The horizon."""
        return float(self.horizon)

    @property
    def save_count(self) -> int:
        """0, the horizon and a log grid between."""
        return LOG_GRID_POINTS + 1

    def default_saves(self) -> Positions:
        """Return 0, the horizon, and a log grid over four decades."""
        return np.r_[0.0, np.geomspace(self.last * 10.0**-LOG_GRID_DECADES, self.last, LOG_GRID_POINTS)]

    def positions_at(self, name: str, times: Positions) -> Positions:
        """Return the times themselves."""
        return times

    def times_at(self, positions: Positions) -> Positions:
        """Return the positions, which are times."""
        return positions


class StepClock(Clock):
    """Steps 0 to num_steps; the time of a step is the sum of the sizes before it."""

    step_size: Float[Array, "*steps"]
    """One size, or one per step."""
    num_steps: int = eqx.field(static=True)

    @property
    def steps(self) -> "StepClock":
        """The clock itself."""
        return self

    @property
    def last(self) -> float:
        """The number of steps."""
        return float(self.num_steps)

    @property
    def save_count(self) -> int:
        """Every step, and the initialisation."""
        return self.num_steps + 1

    def default_saves(self) -> Positions:
        """Return every step."""
        return np.arange(self.last + 1.0)

    def positions_at(self, name: str, times: Positions) -> Positions:
        """Return the steps at given times, or refuse times between steps; times outside stay outside."""
        if self.is_even:
            positions = times / float(self.step_size)
            steps = np.round(positions)
        else:
            starts = self.times()
            steps = np.abs(starts[None, :] - times[:, None]).argmin(axis=1).astype(float)
            positions = steps + (times - starts[steps.astype(int)]) / float(np.min(np.asarray(self.step_size)))
        between = np.abs(steps - positions) > 1e-6
        if between.any():
            which = ", ".join(f"{t:g}" for t in times[between][:3])
            sizes = f"multiples of the step size {float(self.step_size):g}" if self.is_even else "times of steps"
            raise ValueError(f"{name}: given {which}, between steps; needs {sizes}")
        return steps

    def times_at(self, positions: Positions) -> Positions:
        """Return the times of steps."""
        if self.is_even:  # without an array of all steps
            return float(self.step_size) * positions
        return self.times()[positions.astype(int)]

    @property
    def is_even(self) -> bool:
        """Whether all steps have one size."""
        return self.step_size.ndim == 0

    @property
    def without_end(self) -> "StepClock":
        """The clock of any number of steps, where they have one size: what a compiled program may depend on."""
        return StepClock(self.step_size, 1) if self.is_even else self

    def size(self, step: Int[Array, ""]) -> Scalar:
        """Return the size of a step; the move after the last measurement is never needed."""
        return self.step_size if self.is_even else self.step_size[jnp.minimum(step, self.num_steps - 1)]

    def time(self, step: Int[Array, ""]) -> Scalar:
        """Return the time of a step."""
        return step * self.step_size if self.is_even else self._starts()[step]

    def schedule(self, numbers: Float[Array, "*steps"]) -> "Schedule":
        """Return numbers of the steps, one for each or one for all, that are read by time."""
        return Schedule(numbers, jnp.zeros(()) if numbers.ndim == 0 else self._starts()[: len(numbers)])

    def sizes(self) -> Float[Array, "steps"]:
        """Return the sizes of all steps and of the move after the last."""
        if self.is_even:
            return jnp.full(self.num_steps + 1, self.step_size)
        return jnp.concatenate([self.step_size, self.step_size[-1:]])

    def times(self) -> Float[np.ndarray, "steps"]:
        """Return the times of all steps."""
        if self.is_even:  # in numpy: a new number of steps must not compile anything
            return float(self.step_size) * np.arange(self.num_steps + 1.0)
        return np.r_[0.0, np.cumsum(np.asarray(self.step_size))]  # in double precision wherever it is asked

    def _starts(self) -> Float[Array, "steps"]:
        if self.is_even:
            return self.step_size * jnp.arange(self.num_steps + 1)
        return jnp.concatenate([jnp.zeros(1), jnp.cumsum(self.step_size)])


class Schedule(eqx.Module):
    """Numbers of steps, read by the time of a step; between steps by the cubic through the four nearest."""

    numbers: Float[Array, "*steps"]
    starts: Float[Array, "*steps"]

    def at(self, t: Scalar) -> Scalar:
        """Return the number at a time, after the last step the last one."""
        if self.numbers.ndim == 0:
            return self.numbers
        near = min(READ_FROM, len(self.numbers))
        t = jnp.minimum(t, self.starts[-1])
        first = jnp.clip(jnp.searchsorted(self.starts, t, side="right") - near // 2, 0, len(self.numbers) - near)
        starts, numbers = (lax.dynamic_slice_in_dim(x, first, near) for x in (self.starts, self.numbers))
        others = ~jnp.eye(near, dtype=bool)
        factors = jnp.where(others, t - starts[None, :], 1.0) / jnp.where(
            others, starts[:, None] - starts[None, :], 1.0
        )
        return jnp.prod(factors, axis=1) @ numbers


class StepNoise(eqx.Module):
    """Randomness of the steps; None for a part that there is none of.

    ``batch_fraction``: a step sees each sample with this probability, its residual divided by it. ``label_std``: a
    step sees fresh label noise. ``temperature``: each step adds N(0, 2 temperature step_size) to every parameter.
    """

    batch_fraction: Scalar | None = None
    label_std: Scalar | None = None
    temperature: Scalar | None = None
    persistent: bool = eqx.field(default=False, static=True)  # the same batch at every step

    @property
    def on_samples(self) -> bool:
        """Whether residuals are noisy."""
        return self.batch_fraction is not None or self.label_std is not None

    @property
    def is_none(self) -> bool:
        """Whether there is none."""
        return not self.on_samples and self.temperature is None

    def residual_variance(self, error: Scalar) -> Scalar:
        """Return the variance that masks and fresh labels add to a squared loss's residual of mean square ``error``."""
        labels = jnp.zeros(()) if self.label_std is None else self.label_std**2
        if self.batch_fraction is None or self.persistent:
            return labels
        return (1.0 / self.batch_fraction - 1.0) * error + labels / self.batch_fraction

    @property
    def kept_fraction(self) -> Scalar:
        """Part of the samples that are ever seen."""
        return self.batch_fraction if self.persistent and self.batch_fraction is not None else jnp.ones(())


def as_schedule(name: str, value: Any, num_steps: int, example: float, **bounds: Any) -> Float[Array, "*steps"]:
    """Turn a number, a list of one number per step or a function of the step into an array."""
    if not callable(value) and _is_one(value):
        return number(name, example=example, **bounds)(value)
    fix = (
        f"needs one number, one for each of the {num_steps} steps, or a function of the step, "
        f"e.g. {name}=lambda i: {example:g} / (1 + i)"
    )
    if num_steps > MOST_SCHEDULED:
        raise ValueError(
            f"num_steps: given {num_steps} with a schedule of {name}, of which every number is kept; needs at most "
            f"{MOST_SCHEDULED}, or one number, e.g. {name}={example:g}"
        )
    if callable(value):
        value = _every(name, value, num_steps, fix)
    array = as_float(name, value, fix)
    if array.shape != (num_steps,):
        raise ValueError(f"{name}: given an array of shape {array.shape}, {fix}")
    check_entries(name, array, fix, **bounds)
    return array


def _is_one(value: Any) -> bool:
    return not isinstance(value, list | tuple) and getattr(value, "ndim", 0) == 0


def _every(name: str, function: Callable[[int], Any], num_steps: int, fix: str) -> list[Any]:
    try:
        return [function(i) for i in range(num_steps)]
    except Exception as problem:
        raise ValueError(f"{name}: given a function that fails ({type(problem).__name__}: {problem}), {fix}") from None
