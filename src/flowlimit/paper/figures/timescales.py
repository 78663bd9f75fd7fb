"""Phases of learning: curves in time from large and small starts, and the times that make them fall together."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.stats import t as student

from ...asymptotics.timescales import Timescales, timescales
from ...problem.laws import Bernoulli
from ...problem.models import DiagonalLinear
from ...problem.tasks import Regression
from ...problem.trainings import GradientFlow
from ...verbs.simulate import simulate
from ...verbs.solve import solve_dmft
from ..lab import Lab
from ..verdict import Verdict

Numbers = Float[np.ndarray, "_"]
CHANCE = 1e-3
"""Chance that a true claim is judged false by the scatter of runs, all points of a figure together."""
NAMES = {"train_error": "training error", "test_error": "test error"}
FALL = 2.0
"""How many times closer curves lie, at least, once time is rescaled as it should be."""


class Line(NamedTuple):
    """One curve with its standard errors, at the times of its story."""

    value: Numbers
    stderr: Numbers


class Story(NamedTuple):
    """Training from one start: errors of runs and of the limit."""

    scale: float
    times: Numbers
    runs: Mapping[str, Line]
    limit: Mapping[str, Line]
    phases: Timescales


class Stories(NamedTuple):
    """Stories of one group of starts."""

    group: str
    stories: list[Story]
    trials: int


GROUPS = {
    "fig:timescales": "large and small",
    "fig:timescales_detail": "middle, large and small",
    "fig:timescale_large": "large",
    "fig:timescale_large_lazy": "large",
    "fig:timescale_large_grok": "large",
    "fig:timescale_large_rich": "large",
    "fig:timescale_small": "small",
    "fig:timescale_small_transition": "small",
}


def compute(label: str, lab: Lab, p: SimpleNamespace) -> dict[str, Stories]:
    """Run the experiments that a figure needs; figures share them."""
    groups = [name for name in ("middle", "large", "small") if name in GROUPS[label]]
    return {group: _stories(lab, p, group) for group in groups}


def _stories(lab: Lab, p: SimpleNamespace, group: str) -> Stories:
    task = Regression(aspect_ratio=p.aspect_ratio, noise_var=p.noise_var, target=Bernoulli(p.probability))
    scales, (first, last, count) = getattr(p, group), getattr(p, f"{group}_times")
    times = np.r_[0.0, np.geomspace(first, last, count)]
    model, training, over = DiagonalLinear(1.0, p.weight_decay), GradientFlow(last), {"model.init_scale": scales}
    nouns, shared = (model, task, training), {"over": over, "save_at": times, "key": p.key}
    runs = lab.sweep(
        f"timescales-{group}", simulate, *nouns, **shared, dim=p.dim, trials=p.trials, block_size=len(scales)
    ).to_xarray()
    options = {"rtol": p.limit_rtol, "time_limit": p.time_limit}
    limits = lab.sweep(f"timescales-{group}-limit", solve_dmft, *nouns, **shared, **options).to_xarray()
    read = lambda data, i: {
        name: Line(data[name].to_numpy()[i], data[f"{name}_stderr"].to_numpy()[i]) for name in NAMES
    }
    phases = [timescales(DiagonalLinear(scale, p.weight_decay), task) for scale in scales]
    every = [Story(scale, times, read(runs, i), read(limits, i), phases[i]) for i, scale in enumerate(scales)]
    return Stories(group, every, p.trials)


Rescale = Callable[[Story], Numbers]


def _lazy(story: Story) -> Numbers:
    return story.times * story.scale**2


def _log(story: Story) -> Numbers:
    return story.times / abs(np.log(story.scale))


def _shifted(story: Story) -> Numbers:
    return story.times - float(story.phases.rich)


def _plain(story: Story) -> Numbers:
    return story.times


CLOCKS: dict[str, tuple[Rescale, str, tuple[float, float], str]] = {
    "fig:timescale_large": (_plain, "time $t$", (1e-8, 200.0), "log"),
    "fig:timescale_large_lazy": (_lazy, r"$\alpha^2 t$", (1e-2, 1e3), "log"),
    "fig:timescale_large_grok": (_log, r"$t/\log\alpha$", (0.0, 30.0), "linear"),
    "fig:timescale_large_rich": (_shifted, r"$t - 2\log(\alpha)/\lambda$", (-30.0, 60.0), "linear"),
    "fig:timescale_small": (_plain, "time $t$", (0.0, 60.0), "linear"),
    "fig:timescale_small_transition": (_log, r"$t/\log(1/\alpha)$", (0.0, 10.0), "linear"),
}
"""How each figure measures time, and the stretch that it shows."""


def draw(label: str, data: Mapping[str, Stories]) -> Any:
    """Draw training and test errors over the figure's own time."""
    import matplotlib.pyplot as plt

    if label == "fig:timescales":
        return _draw_schematic(data)
    if label == "fig:timescales_detail":
        return _draw_detail(data)
    figure, panels = plt.subplots(1, 2, figsize=(6.0, 2.5))
    for panel, name in zip(panels, NAMES, strict=True):
        _draw_stories(panel, data[GROUPS[label]], name, *CLOCKS[label])
        if label == "fig:timescale_large_lazy":
            _draw_lazy(panel, data["large"].stories[-1], name)
    panels[0].legend()
    return figure


def _draw_stories(
    panel: Any, stories: Stories, name: str, clock: Rescale, label: str, stretch: tuple[float, float], scale: str
) -> None:
    for index, story in enumerate(stories.stories):
        x, colour, runs, limit = clock(story), f"C{index}", story.runs[name], story.limit[name]
        shown = (x >= stretch[0]) & (x <= stretch[1])
        words = rf"$\alpha$ = {story.scale:g}"
        some = np.flatnonzero(shown)[:: max(1, shown.sum() // 20)]
        panel.errorbar(x[some], runs.value[some], runs.stderr[some], fmt="o", color=colour, markersize=2.0, label=words)
        panel.plot(x[shown], limit.value[shown], color=colour)
        low, high = limit.value - 2.0 * limit.stderr, limit.value + 2.0 * limit.stderr
        panel.fill_between(x[shown], low[shown], high[shown], color=colour, alpha=0.25, linewidth=0.0)
    panel.set(xscale=scale, xlabel=label, ylabel=NAMES[name], xlim=stretch, ylim=(0.0, None))


def _draw_lazy(panel: Any, story: Story, name: str) -> None:
    times = np.geomspace(1e-2, 1e3, 100) / story.scale**2
    panel.plot(
        times * story.scale**2, getattr(story.phases.lazy_errors(times), name), "k--", label="lazy, eq. (lazy_sol)"
    )


def _draw_schematic(data: Mapping[str, Stories]) -> Any:
    """Draw one large and one small start, as solved, with their phases named."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(6.0, 2.4))
    for panel, story, names in zip(
        panels,
        (data["large"].stories[-1], data["small"].stories[-1]),
        (("lazy", "rich"), ("search", "descent")),
        strict=True,
    ):
        for name, style in zip(NAMES, ("-", "--"), strict=True):
            panel.plot(story.times[1:], story.limit[name].value[1:], style, color="black", label=NAMES[name])
        turn = float(story.phases.rich if names[0] == "lazy" else story.phases.search)
        panel.axvspan(story.times[1], turn, color="C0", alpha=0.12, linewidth=0.0)
        panel.axvspan(turn, story.times[-1], color="C1", alpha=0.12, linewidth=0.0)
        panel.set(
            xscale="log", xlabel="time $t$", ylabel="error", xlim=(story.times[1], story.times[-1]), ylim=(0.0, None)
        )
        panel.set_title(rf"$\alpha$ = {story.scale:g}: {names[0]}, then {names[1]}")
    panels[0].legend()
    return figure


def _draw_detail(data: Mapping[str, Stories]) -> Any:
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(7.2, 2.5))
    _draw_stories(panels[0], data["middle"], "train_error", _plain, "time $t$", (1e-3, 150.0), "log")
    _draw_stories(panels[1], data["large"], "test_error", *CLOCKS["fig:timescale_large_grok"])
    _draw_stories(panels[2], data["small"], "train_error", *CLOCKS["fig:timescale_small_transition"])
    for panel in panels:
        panel.legend(fontsize=6)
    return figure


def judge(label: str, data: Mapping[str, Stories]) -> list[Verdict]:
    """Judge runs against the limit, and how curves fall together in the figure's own time."""
    verdicts = [_follow(label, stories) for stories in data.values()]
    if label == "fig:timescale_large_lazy":
        verdicts += [_lazily(label, data["large"]), _collapse(label, data["large"], "train_error", _lazy, (0.1, 30.0))]
    if label in ("fig:timescale_large_grok", "fig:timescales_detail"):
        panel = "fig:timescale_grok" if label == "fig:timescales_detail" else label
        verdicts += [
            _transition(panel, data["large"]),
            _collapse(panel, data["large"], "test_error", _log, (10.0, 30.0)),
        ]
    if label == "fig:timescale_large_rich":
        verdicts.append(_collapse(label, data["large"], "test_error", _shifted, (-20.0, 40.0)))
    if label in ("fig:timescale_small_transition", "fig:timescales_detail"):
        panel = "fig:timescale_descent" if label == "fig:timescales_detail" else label
        verdicts.append(_collapse(panel, data["small"], "train_error", _log, (1.0, 8.0)))
    if label == "fig:timescales_detail":
        verdicts.append(_monotone(f"{label} (a)", data["middle"]))
    if label == "fig:timescale_small":
        verdicts.append(_plateau(label, data["small"]))
    return verdicts


def _follow(label: str, stories: Stories) -> Verdict:
    off = [
        np.abs(story.runs[name].value - story.limit[name].value)
        / np.hypot(story.runs[name].stderr, story.limit[name].stderr)
        for story in stories.stories
        for name in NAMES
    ]
    worst, count = float(np.nanmax(np.concatenate(off)[1:])), sum(map(len, off))
    bound = float(student.ppf(1.0 - CHANCE / (2.0 * count), stories.trials - 1))
    words = f"largest deviation of {stories.group} starts, in standard errors"
    return Verdict(label, "runs follow the limit", words, worst, bound)


def _spread(stories: list[Story], name: str, clock: Rescale, stretch: tuple[float, float]) -> float:
    """Return how far apart curves of the limit lie at worst, relative to how far they move."""
    grid = np.linspace(*stretch, 200)
    values = np.stack([np.interp(grid, clock(story), story.limit[name].value) for story in stories])
    return float(np.ptp(values, axis=0).max() / np.ptp(values))


def _collapse(label: str, stories: Stories, name: str, clock: Rescale, stretch: tuple[float, float]) -> Verdict:
    """Compare how far the two most extreme starts lie apart with how far the first two do."""
    extreme, first = stories.stories[-2:], stories.stories[:2]
    value = _spread(extreme, name, clock, stretch) / _spread(first, name, clock, stretch)
    words = "distance of the two most extreme starts over that of the two least, in this time"
    return Verdict(label, "curves fall together", words, value, 1.0)


def _lazily(label: str, stories: Stories) -> Verdict:
    story = stories.stories[-1]
    inside = (story.times > 0.0) & (story.times * story.scale**2 < 100.0)
    known = np.asarray(story.phases.lazy_errors(story.times[inside]).train_error)
    off = np.abs(story.limit["train_error"].value[inside] - known).max() / known.max()
    words = "largest distance of the largest start from the lazy solution, relative to its start"
    return Verdict(label, "large starts are first lazy", words, float(off), 0.02)


def _transition(label: str, stories: Stories) -> Verdict:
    story = stories.stories[-1]
    curve, predicted = story.limit["test_error"].value, float(story.phases.rich)
    plateau = np.interp(0.5 * predicted, story.times, curve)
    below = (story.times > 0.5 * predicted) & (curve < 0.5 * (plateau + curve[-1]))
    when = story.times[below][0] if below.any() else np.nan
    words = "time at which half of the fall is done over 2 log(alpha)/lambda, less 1, largest start"
    return Verdict(
        label, "the rich phase comes at 2 log(alpha)/lambda", words, float(abs(when / predicted - 1.0)), 0.25
    )


def _monotone(label: str, stories: Stories) -> Verdict:
    """From small starts the training error falls all the way; from large ones it rises as weights become sparse."""
    rise = lambda story: (story.limit["train_error"].value[-1] / story.limit["train_error"].value.min()) - 1.0
    small, large = rise(stories.stories[0]), rise(stories.stories[-1])
    words = "rise of the training error after its least, largest start (smallest: " + f"{small:.2g})"
    return Verdict(
        label, "the training error is monotone for small starts alone", words, large, 10.0 * small + 0.1, "above"
    )


def _plateau(label: str, stories: Stories) -> Verdict:
    story = stories.stories[-1]
    early = np.interp(float(story.phases.search), story.times, story.limit["train_error"].value)
    change = abs(early / story.limit["train_error"].value[0] - 1.0)
    words = "change of the training error in the search phase, smallest start"
    return Verdict(label, "small starts begin with a plateau", words, float(change), 0.01)
