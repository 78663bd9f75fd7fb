"""The paper's regression, from the parameters of a figure."""

from types import SimpleNamespace

from ..problem.designs import Design
from ..problem.laws import Bernoulli
from ..problem.tasks import Regression


def task_of(p: SimpleNamespace, aspect_ratio: float, design: Design | None = None) -> Regression:
    """Return sparse regression at an aspect ratio; Gaussian data unless a design is given."""
    task = Regression(aspect_ratio=aspect_ratio, noise_var=p.noise_var, target=Bernoulli(p.probability))
    return task if design is None else task.replaced(design=design)
