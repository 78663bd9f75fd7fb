"""The paper's regression, from the parameters of a figure."""

from types import SimpleNamespace

from ..problem.designs import Design
from ..problem.laws import Bernoulli
from ..problem.tasks import Regression
from ..problem.trainings import GradientDescent


def task_of(p: SimpleNamespace, aspect_ratio: float, design: Design | None = None) -> Regression:
    """Return sparse regression at an aspect ratio; Gaussian data unless a design is given."""
    task = Regression(aspect_ratio=aspect_ratio, noise_var=p.noise_var, target=Bernoulli(p.probability))
    return task if design is None else task.replaced(design=design)


def descent_of(p: SimpleNamespace) -> GradientDescent:
    """Return gradient descent with the step size and number of steps of a figure."""
    return GradientDescent(p.step_size, num_steps=p.num_steps)
