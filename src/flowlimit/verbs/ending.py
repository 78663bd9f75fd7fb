"""What the limit of a training may be held at, from the closed form of the fixed point."""

from functools import cache

from ..asymptotics.fixed_point import fixed_point
from ..dmft.ending import Ending, FindEnding
from ..problem.models import Model
from ..problem.tasks import Task
from ..problem.trainings import Training
from ..results import FlowlimitError


def ending_of(model: Model, task: Task, training: Training) -> FindEnding:
    """Return what finds the errors at the fixed point, once it is asked; None where there is no closed form.

    Gradient descent with steps of one size, and with momentum, has the flow's fixed point if there is but one
    minimiser; where it interpolates, this depends on the step, and nothing moves once there is no training error.
    """

    @cache
    def find() -> Ending | None:
        try:
            point = fixed_point(model, task)
        except (TypeError, ValueError, FlowlimitError):
            return None
        if point.case == "threshold":
            return None
        open_end = training.clock.in_steps and point.case == "interpolating"
        return Ending(float(point.train_error), None if open_end else float(point.test_error))

    return find
