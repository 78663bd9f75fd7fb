"""Trainings: the dynamics that is analysed. A flow and descent with a finite step are different systems."""

import abc
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from ..types import Number, Scalar, is_traced
from .checks import flag, integer, number
from .clocks import Clock, ContinuousClock, Schedule, StepClock, StepNoise, as_schedule
from .models.model import Model
from .momentum import Momentum, ScheduledDecay
from .noun import Noun

MOST_STEPS = 10**12
"""No machine takes more; and times of steps stay exact."""


class Training(Noun):
    """A dynamics of theta.

    A subclass must write one property, ``clock`` -> `ContinuousClock` or `StepClock`. It may write three more:

    - ``schedules`` (property) -> the numbers by which steps differ, besides their sizes, each by
      `StepClock.schedule`, where steps are otherwise the same function of theta and g, without noise; None, unless it
      says so, where they are not. Many steps can then be summed at once, as far as schedules are smooth.
    - ``noise`` (property) -> `StepNoise`, the randomness of its steps, for a clock that runs in steps.
    - ``extended(model, shape)`` -> a `Model` with what the training adds to it, such as a velocity; ``shape`` is that
      of the model's theta.
    """

    @property
    @abc.abstractmethod
    def clock(self) -> Clock:
        """How its time runs."""

    @property
    def noise(self) -> StepNoise:
        """Randomness of its steps."""
        return StepNoise()

    @property
    def schedules(self) -> tuple[Schedule, ...] | None:
        """Numbers that steps read by their time; None where steps have noise or differ otherwise."""
        return None

    def extended(self, model: Model, shape: tuple[int, ...]) -> Model:
        """Return the model, with theta of that shape, and what the training adds to it, such as a velocity."""
        return model


class GradientFlow(Training):
    """Gradient flow theta' = p_t(g, theta) for times 0 to ``horizon``, eq. (flow_general).

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.GradientFlow(horizon=1000.0)
    GradientFlow(horizon=1000)
    """

    horizon: Scalar = eqx.field(converter=number("horizon", above=0.0, example=100.0))

    @property
    def clock(self) -> ContinuousClock:
        """Continuous time."""
        return ContinuousClock(self.horizon)


class _Steps(Training):
    """What trainings in steps share: sizes, and a schedule of the weight decay."""

    step_size: Float[Array, "*steps"]
    num_steps: int = eqx.field(static=True)
    decay_factor: Float[Array, "*steps"] | None = None

    def _set_steps(self, step_size: Any, num_steps: Any, decay_factor: Any) -> None:
        self.num_steps = integer("num_steps", at_least=1, at_most=MOST_STEPS, example=100)(num_steps)
        self.step_size = as_schedule("step_size", step_size, self.num_steps, 0.1, above=0.0)
        self.decay_factor = None
        if decay_factor is not None:
            self.decay_factor = as_schedule("decay_factor", decay_factor, self.num_steps, 0.5, at_least=0.0)

    @property
    def clock(self) -> StepClock:
        """Time in steps."""
        return StepClock(self.step_size, self.num_steps)

    @property
    def schedules(self) -> tuple[Schedule, ...] | None:
        """Factors on the weight decay, if there is no noise."""
        if not self.noise.is_none:
            return None
        factor = self.decay_factor
        return () if factor is None or factor.ndim == 0 else (self.clock.schedule(factor),)

    def extended(self, model: Model, shape: tuple[int, ...]) -> Model:
        """Add the schedule of the weight decay."""
        if self.decay_factor is None:
            return model
        if not hasattr(model, "weight_decay"):
            raise ValueError(f"decay_factor: given one, but {model!r} has no weight_decay; leave it out")
        return ScheduledDecay(model, self.clock.schedule(self.decay_factor))


class _Accelerated(_Steps):
    """Steps with momentum."""

    momentum: Scalar = eqx.field(default=0.0)
    nesterov: bool = eqx.field(default=False, static=True)

    @property
    def schedules(self) -> tuple[Schedule, ...] | None:
        """The same, and the sizes of steps, which a velocity is divided by."""
        found = super().schedules
        if found is None or self.clock.is_even or _is_zero(self.momentum):
            return found
        return (*found, self.clock.schedule(self.step_size))

    def _set_momentum(self, momentum: Any, nesterov: bool) -> None:
        self.momentum = number("momentum", at_least=0.0, at_most=1.0, example=0.9)(momentum)
        self.nesterov = flag("nesterov")(nesterov)

    def extended(self, model: Model, shape: tuple[int, ...]) -> Model:
        """Add a velocity, if there is momentum."""
        model = super().extended(model, shape)
        if _is_zero(self.momentum):
            return model
        return Momentum(model, self.momentum, self.clock.schedule(self.step_size), self.nesterov, shape)


class GradientDescent(_Accelerated):
    """Gradient descent theta_{i+1} = theta_i + step_size p(g_i, theta_i), exactly, with momentum and schedules.

    Parameters
    ----------
    step_size
        A number; or one for each step, as a list or a function of the step. The time of a step is the sum of those
        before it.
    num_steps
        Number of steps.
    momentum, nesterov
        v_{i+1} = momentum v_i + p_i and theta_{i+1} = theta_i + step_size v_{i+1}, or with Nesterov's step
        theta_i + step_size (p_i + momentum v_{i+1}).
    decay_factor
        Factors on the model's weight decay, one for each step, as a list or a function of the step.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.GradientDescent(step_size=0.1, num_steps=200)
    GradientDescent(step_size=0.1, num_steps=200)
    >>> fl.GradientDescent(step_size=lambda i: 0.2 / (1 + 0.1 * i), num_steps=50, momentum=0.9)
    GradientDescent(step_size=<array 50>, num_steps=50, momentum=0.9)
    """

    def __init__(
        self,
        step_size: Any,
        *,
        num_steps: int,
        momentum: Number = 0.0,
        nesterov: bool = False,
        decay_factor: Any = None,
    ) -> None:
        self._set_steps(step_size, num_steps, decay_factor)
        self._set_momentum(momentum, nesterov)


class StochasticGradientDescent(_Accelerated):
    """Gradient descent on random batches: each step sees each sample with probability ``batch_fraction``.

    Parameters
    ----------
    batch_fraction
        Above 0, at most 1, which is gradient descent. Batches are drawn anew each step; residuals are divided by the
        fraction, so that gradients have the same mean.
    step_size, num_steps, momentum, nesterov, decay_factor
        As in `GradientDescent`.
    persistent
        Whether the first batch is kept for all steps: training on a part of the data.
    label_noise
        Standard deviation of noise that every step adds to the labels anew; for the squared loss.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.StochasticGradientDescent(batch_fraction=0.1, step_size=0.1, num_steps=200)
    StochasticGradientDescent(step_size=0.1, num_steps=200, batch_fraction=0.1)
    """

    batch_fraction: Scalar = eqx.field(default=1.0)
    persistent: bool = eqx.field(default=False, static=True)
    label_noise: Scalar = eqx.field(default=0.0)

    def __init__(
        self,
        batch_fraction: Number,
        *,
        step_size: Any,
        num_steps: int,
        momentum: Number = 0.0,
        nesterov: bool = False,
        decay_factor: Any = None,
        persistent: bool = False,
        label_noise: Number = 0.0,
    ) -> None:
        self._set_steps(step_size, num_steps, decay_factor)
        self._set_momentum(momentum, nesterov)
        self.batch_fraction = number("batch_fraction", above=0.0, at_most=1.0, example=0.1)(batch_fraction)
        self.persistent = flag("persistent")(persistent)
        self.label_noise = number("label_noise", at_least=0.0, example=0.1)(label_noise)

    @property
    def noise(self) -> StepNoise:
        """Masks, and fresh labels if asked for."""
        labels = None if _is_zero(self.label_noise) else self.label_noise
        return StepNoise(self.batch_fraction, labels, persistent=self.persistent)


class Langevin(_Steps):
    """Gradient descent with noise: every step adds N(0, 2 temperature step_size) to every parameter.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.Langevin(temperature=0.01, step_size=0.1, num_steps=200)
    Langevin(step_size=0.1, num_steps=200, temperature=0.01)
    """

    temperature: Scalar = eqx.field(default=0.0)

    def __init__(self, temperature: Number, *, step_size: Any, num_steps: int, decay_factor: Any = None) -> None:
        self._set_steps(step_size, num_steps, decay_factor)
        self.temperature = number("temperature", at_least=0.0, example=0.01)(temperature)

    @property
    def noise(self) -> StepNoise:
        """Noise on the parameters."""
        return StepNoise(temperature=self.temperature)


def _is_zero(value: Scalar) -> bool:
    return not is_traced(value) and float(value) == 0.0
