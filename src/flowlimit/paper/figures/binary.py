"""Binary data: fixed points and decays as on Gaussian data."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ...problem.designs import BinaryDesign
from ...problem.models import DiagonalLinear
from ..lab import Lab
from ..parameters import read_parameters
from ..setting import descent_of, task_of
from ..verdict import Verdict
from . import rates
from .scales import Points, Scales, compare_scales, draw_scales, judge_scales


class Binary(NamedTuple):
    """Ends over init scales and decays in time."""

    ends: Scales
    decays: list[rates.Decay]


def compute(label: str, lab: Lab, p: SimpleNamespace) -> Binary:
    """Train on binary data."""
    own = read_parameters("rates", quick=lab.quick)
    decays = rates.decays_at(lab, own, p.aspect_ratio, design=BinaryDesign(), name="binary")
    return Binary(compare_scales(p, [_points(lab, p)]), decays)


def _points(lab: Lab, p: SimpleNamespace) -> Points:
    end, over = p.step_size * p.num_steps, {"model.init_scale": p.scales}
    nouns = (
        DiagonalLinear(1.0),
        task_of(p, p.aspect_ratio, BinaryDesign()),
        descent_of(p),
    )
    options = {"dim": p.dim, "trials": p.trials, "key": p.key, "save_at": [0.0, end], "block_size": len(p.scales)}
    last = lab.simulate("binary-ends", *nouns, over=over, **options).to_xarray().isel(time=-1)
    mean, stderr = last["test_error"].to_numpy(), last["test_error_stderr"].to_numpy()
    return Points("binary data", np.array(p.scales), mean, stderr, p.trials)


def draw(label: str, data: Binary) -> Any:
    """Draw fixed points and decays."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(6.0, 2.5))
    draw_scales(left, data.ends)
    rates.draw_decays(right, data.decays)
    right.set_title("binary data")
    return figure


def judge(label: str, data: Binary) -> list[Verdict]:
    """Judge fixed points and decays."""
    return judge_scales(f"{label} (a)", data.ends) + rates.judge_decays(f"{label} (b)", data.decays)
