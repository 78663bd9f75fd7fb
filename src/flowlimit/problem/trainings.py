"""Trainings: the dynamics that is analysed. A flow and descent with a finite step are different systems."""

import abc

import equinox as eqx

from ..types import Scalar
from .checks import integer, number
from .noun import Noun


class Clock(eqx.Module):
    """How time runs: continuously up to a horizon, or in steps."""


class ContinuousClock(Clock):
    """Time from 0 to the horizon."""

    horizon: Scalar


class StepClock(Clock):
    """Times 0, step_size, ..., num_steps x step_size."""

    step_size: Scalar
    num_steps: int = eqx.field(static=True)


class Training(Noun):
    """A dynamics of theta."""

    @property
    @abc.abstractmethod
    def clock(self) -> Clock:
        """How its time runs."""


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


class GradientDescent(Training):
    """Gradient descent theta_{i+1} = theta_i + step_size p(g_i, theta_i), exactly; step i is time i step_size.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.GradientDescent(step_size=0.1, num_steps=200)
    GradientDescent(step_size=0.1, num_steps=200)
    """

    step_size: Scalar = eqx.field(converter=number("step_size", above=0.0, example=0.1))
    num_steps: int = eqx.field(static=True, converter=integer("num_steps", at_least=1, example=100))

    @property
    def clock(self) -> StepClock:
        """Time in steps."""
        return StepClock(self.step_size, self.num_steps)
