"""Beyond the paper: where universality breaks. Ends on heavy-tailed data, over their degrees of freedom and dims."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from ...asymptotics.fixed_point import fixed_point
from ...asymptotics.minimizer import minimizer
from ...problem.designs import StudentDesign
from ...problem.models import DiagonalLinear
from ...problem.tasks import Regression
from ...results.spread import standard_error
from ...verbs.draw import draw as draw_data
from ..lab import Lab
from ..lines import Numbers
from ..setting import task_of
from ..verdict import Verdict, judge_deviations

LIGHT = 5.0
"""Degrees from which on the fourth moment is finite, and data count as Gaussian."""


class Heavy(NamedTuple):
    """Test errors of minimum norm solutions, relative to theory: degrees, dims, trials."""

    degrees: Numbers
    dims: Numbers
    ratios: Float[np.ndarray, "degrees dims trials"]

    @property
    def mean(self) -> Float[np.ndarray, "degrees dims"]:
        """Mean over trials."""
        return self.ratios.mean(axis=-1)

    @property
    def stderr(self) -> Float[np.ndarray, "degrees dims"]:
        """Standard error of the mean."""
        return standard_error(self.ratios, axis=-1)


def end_of_training(model: DiagonalLinear, task: Regression, *, dim: int, key: int) -> float:
    """Return the test error of the solution that training converges to, found by convex minimisation."""
    return minimizer(model, draw_data(task, dim=dim, key=key)).test_error


def compute(label: str, lab: Lab, p: SimpleNamespace) -> Heavy:
    """Minimise on data of each law and size."""
    model, task = DiagonalLinear(p.init_scale), task_of(p, p.aspect_ratio, StudentDesign(LIGHT))
    keys = [p.key + trial for trial in range(p.trials)]
    over = {"task.design.degrees": p.degrees, "dim": p.dims, "key": keys}
    errors = lab.sweep("heavy-tails", end_of_training, model, task, over=over)["value"].to_numpy()
    known = float(fixed_point(model, task_of(p, p.aspect_ratio)).test_error)
    return Heavy(np.array(p.degrees), np.array(p.dims, dtype=float), errors / known)


def draw(label: str, data: Heavy) -> Any:
    """Draw the ratio to theory over the dim, a line for each law."""
    import matplotlib.pyplot as plt

    figure, panel = plt.subplots(figsize=(3.2, 2.4))
    for place, degrees in enumerate(data.degrees):
        panel.errorbar(data.dims, data.mean[place], data.stderr[place], fmt="o-", label=f"{degrees:g} degrees")
    panel.axhline(1.0, color="black", linewidth=0.8)
    panel.set(xscale="log", xlabel="dim $d$", ylabel="test error of the minimiser / theory")
    panel.set_xticks(data.dims, [f"{dim:g}" for dim in data.dims])
    panel.minorticks_off()
    panel.legend(title="Student's law with", title_fontsize=7, loc="center left", bbox_to_anchor=(0.0, 0.55))
    return figure


def judge(label: str, data: Heavy) -> list[Verdict]:
    """Judge light tails by theory, and the heaviest by how far they are from it and whether that shrinks."""
    light, heaviest = data.degrees >= LIGHT, int(data.degrees.argmin())
    off = ((data.mean - 1.0) / data.stderr)[light, -1]
    excess, stderr = data.mean[heaviest] - 1.0, data.stderr[heaviest]
    words = f"{data.degrees[heaviest]:g} degrees at dim {data.dims[-1]:g}: excess over theory, in standard errors"
    far = float(excess[-1] / stderr[-1])
    falls = "excess at the largest dim over that at the smallest"
    return [
        judge_deviations(label, "theory holds for data with four moments", "test errors", off, data.ratios.shape[-1]),
        Verdict(label, "close to infinite variance it does not, at these sizes", words, far, 5.0, "above"),
        Verdict(label, "but comes nearer with the dim", falls, float(excess[-1] / excess[0]), 1.0),
    ]
