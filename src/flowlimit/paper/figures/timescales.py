"""Phases of learning: curves from large and small initialisations, and the times that make them fall together."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..lab import Lab
from ..lines import draw_limit, draw_runs
from ..verdict import Verdict
from .phases import (
    DESCENT,
    judge_collapse,
    judge_lazy,
    judge_monotone,
    judge_one_by_one,
    judge_plateau,
    judge_runs,
    judge_transition,
)
from .stories import NAMES, Rescale, Stories, Story, lazy_clock, log_clock, plain_clock, rich_clock, tell_stories

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
    return {group: tell_stories(lab, p, group) for group in groups}


CLOCKS: dict[str, tuple[Rescale, str, tuple[float, float], str]] = {
    "fig:timescale_large": (plain_clock, "time $t$", (1e-6, 150.0), "log"),
    "fig:timescale_large_lazy": (lazy_clock, r"$\alpha^2 t$", (1e-2, 1e3), "log"),
    "fig:timescale_large_grok": (log_clock, r"$t/\log\alpha$", (0.5, 20.0), "linear"),
    "fig:timescale_large_rich": (rich_clock, r"$t - 2\log(\alpha)/\lambda$", (-20.0, 50.0), "linear"),
    "fig:timescale_small": (plain_clock, "time $t$", (0.0, 60.0), "linear"),
    "fig:timescale_small_transition": (log_clock, r"$t/\log(1/\alpha)$", (0.0, 10.0), "linear"),
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
    panels[0].plot([], [], color="0.4", label="limit")
    panels[0].legend()
    return figure


def _draw_stories(
    panel: Any, stories: Stories, name: str, clock: Rescale, label: str, stretch: tuple[float, float], scale: str
) -> None:
    for index, story in enumerate(stories.stories):
        x, colour = clock(story), f"C{index}"
        shown = (x >= stretch[0]) & (x <= stretch[1])
        style = {"log": scale == "log", "color": colour, "label": rf"$\alpha$ = {story.scale:g}"}
        draw_runs(panel, x, story.runs[name], shown, **style)
        draw_limit(panel, x, story.limit[name], shown, color=colour, least=0.0)
    panel.set(xscale=scale, xlabel=label, ylabel=NAMES[name], xlim=stretch, ylim=(0.0, None))


def _draw_lazy(panel: Any, story: Story, name: str) -> None:
    times = np.geomspace(1e-2, 1e3, 100) / story.scale**2
    panel.plot(
        times * story.scale**2, getattr(story.phases.lazy_errors(times), name), "k--", label="lazy, eq. (lazy_sol)"
    )


def _draw_schematic(data: Mapping[str, Stories]) -> Any:
    """Draw one large and one small initialisation, as solved, with their phases named."""
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
    _draw_stories(panels[0], data["middle"], "train_error", plain_clock, "time $t$", (1e-3, 150.0), "log")
    _draw_stories(panels[1], data["large"], "test_error", *CLOCKS["fig:timescale_large_grok"])
    _draw_stories(panels[2], data["small"], "train_error", *CLOCKS["fig:timescale_small_transition"])
    panels[0].set_ylim(0.0, 0.2)
    panels[0].legend(fontsize=6, ncols=2, loc="upper left")
    for panel in panels[1:]:
        panel.legend(fontsize=6)
    return figure


def judge(label: str, data: Mapping[str, Stories]) -> list[Verdict]:
    """Judge runs against the limit, and how curves fall together in the figure's own time."""
    verdicts = [judge_runs(label, stories) for stories in data.values()]
    if label == "fig:timescale_large_lazy":
        verdicts += [
            judge_lazy(label, data["large"]),
            judge_collapse(label, data["large"], "train_error", lazy_clock, (0.1, 30.0)),
        ]
    if label in ("fig:timescale_large_grok", "fig:timescales_detail"):
        panel = "fig:timescale_grok" if label == "fig:timescales_detail" else label
        verdicts.append(judge_transition(panel, data["large"]))
    if label == "fig:timescale_large_rich":
        verdicts.append(judge_collapse(label, data["large"], "test_error", rich_clock, (-10.0, 30.0)))
    if label in ("fig:timescale_small_transition", "fig:timescales_detail"):
        panel = "fig:timescale_descent" if label == "fig:timescales_detail" else label
        verdicts.append(judge_collapse(panel, data["small"], "train_error", log_clock, DESCENT))
    if label == "fig:timescales_detail":
        verdicts.append(judge_monotone(f"{label} (a)", data["middle"]))
    if label == "fig:timescale_small":
        verdicts += [judge_plateau(label, data["small"]), judge_one_by_one(label, data["small"])]
    return verdicts
