"""Training from some init scales: runs and the limit side by side, in plain time and in the paper's times."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ...asymptotics.fixed_point import fixed_point
from ...asymptotics.timescales import Timescales, timescales
from ...problem.models import DiagonalLinear
from ...problem.trainings import GradientFlow
from ...verbs.solve import solve_dmft
from ..lab import Lab
from ..lines import Line, Numbers
from ..setting import task_of

NAMES = {"train_error": "training error", "test_error": "test error"}


class Story(NamedTuple):
    """Training from one init scale: errors of runs and of the limit."""

    scale: float
    times: Numbers
    runs: Mapping[str, Line]
    limit: Mapping[str, Line]
    phases: Timescales
    end: float
    """The test error at the fixed point, by theory."""
    weights: Any = None
    """Weights of all trials at all times, and their targets, where they were kept."""
    w_star: Any = None


class Stories(NamedTuple):
    """Stories of one group of init scales."""

    group: str
    stories: list[Story]
    trials: int


def tell_stories(lab: Lab, p: SimpleNamespace, group: str) -> Stories:
    """Run the experiments of a group of init scales: large, small or middle."""
    scales, (first, last, count) = getattr(p, group), getattr(p, f"{group}_times")
    times, task = _times(first, last, count), task_of(p, p.aspect_ratio)
    nouns = (DiagonalLinear(1.0, weight_decay=p.weight_decay), task, GradientFlow(last))
    shared = {"over": {"model.init_scale": scales}, "save_at": times, "key": p.key}
    sizes = {"dim": p.dim, "trials": p.trials, "block_size": len(scales)}
    if group == "small":
        sizes["weights_at"] = times
    runs = lab.simulate(f"timescales-{group}", *nouns, **shared, **sizes).to_xarray()
    accuracy = {"rtol": p.limit_rtol, "time_limit": p.time_limit}
    limits = lab.sweep(f"timescales-{group}-limit", solve_dmft, *nouns, **shared, **accuracy).to_xarray()
    read = lambda data: {name: Line(times, data[name].to_numpy(), data[f"{name}_stderr"].to_numpy()) for name in NAMES}
    stories = []
    for place, scale in enumerate(scales):
        own, model = runs.isel({"model.init_scale": place}), DiagonalLinear(scale, weight_decay=p.weight_decay)
        limit = read(limits.isel({"model.init_scale": place}))
        theory = (timescales(model, task), float(fixed_point(model, task).test_error))
        stories.append(Story(scale, times, read(own), limit, *theory, own.get("weights"), own.get("w_star")))
    return Stories(group, stories, p.trials)


def _times(first: float, last: float, count: int) -> Numbers:
    """Return time 0 and times of which half are even in log t, half in t: phases are short, then long."""
    half = count // 2
    return np.union1d(np.r_[0.0, np.geomspace(first, last, half)], np.linspace(0.0, last, half + 1))


Rescale = Callable[[Story], Numbers]


def lazy_clock(story: Story) -> Numbers:
    """Time in the lazy phase, alpha^2 t."""
    return story.times * story.scale**2


def log_clock(story: Story) -> Numbers:
    """Time in units of |log(alpha)|."""
    return story.times / abs(np.log(story.scale))


def rich_clock(story: Story) -> Numbers:
    """Time from 2 log(alpha)/lambda on."""
    return story.times - float(story.phases.rich)


def plain_clock(story: Story) -> Numbers:
    """Plain time."""
    return story.times
