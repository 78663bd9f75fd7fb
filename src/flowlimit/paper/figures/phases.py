"""What the paper says of phases of learning, judged on stories: lazy, rich, search and descent."""

from typing import Any

import numpy as np

from ..lines import Numbers
from ..verdict import Verdict, judge_deviations
from .stories import NAMES, Rescale, Stories, Story, plain_clock

LAZY = (0.1, 30.0)
"""Stretch of alpha^2 t in which the lazy phase is judged."""
DESCENT = (1.0, 8.0)
"""Stretch of t/log(1/alpha) in which the descent phase is judged."""
RISE = 0.05
"""Rise of a training error after its least, relative, that is more than the error of a limit."""
LEARNED = 0.5
"""End of a coordinate that counts as learned; targets are 1."""
CLOSER = 0.5
"""How far curves lie apart once time is rescaled as it should be, at most, relative to plain time."""


def judge_runs(label: str, stories: Stories) -> Verdict:
    """Compare runs with the limit."""
    pairs = [(story.runs[name], story.limit[name]) for story in stories.stories for name in NAMES]
    off = [(runs.value - limit.value) / np.hypot(runs.stderr, limit.stderr) for runs, limit in pairs]
    what = f"runs from {stories.group} initialisations"
    return judge_deviations(label, "runs follow the limit", what, np.concatenate(off), stories.trials)


def _spread(stories: list[Story], name: str, clock: Rescale, stretch: tuple[float, float]) -> float:
    """Return how far apart curves of the limit lie at worst."""
    grid = np.linspace(*stretch, 400)
    values = np.stack([np.interp(grid, clock(story), story.limit[name].value) for story in stories])
    return float(np.ptp(values, axis=0).max())


def judge_collapse(label: str, stories: Stories, name: str, clock: Rescale, stretch: tuple[float, float]) -> Verdict:
    """Compare how far the two most extreme init scales lie apart in this time and in plain time."""
    extreme = stories.stories[-2:]
    ends = [np.interp(stretch, clock(story), story.times) for story in extreme]
    plain = _spread(extreme, name, plain_clock, (float(np.min(ends)), float(np.max(ends))))
    words = "distance of the two most extreme init scales in this time, over that in plain time"
    return Verdict(label, "curves fall together", words, _spread(extreme, name, clock, stretch) / plain, CLOSER)


def judge_lazy(label: str, stories: Stories) -> Verdict:
    """Compare the largest initialisation with the lazy solution."""
    story = stories.stories[-1]
    inside = (story.times > 0.0) & (story.times * story.scale**2 < 100.0)
    known = np.asarray(story.phases.lazy_errors(story.times[inside]).train_error)
    off = np.abs(story.limit["train_error"].value[inside] - known).max() / known.max()
    words = "largest distance of the largest initialisation from the lazy solution, relative to its initial value"
    return Verdict(label, "large initialisations are first lazy", words, float(off), 0.02)


def judge_transition(label: str, stories: Stories) -> Verdict:
    """Fit how the time of half of the fall grows with log(alpha): a constant comes on top of 2 log(alpha)/lambda."""
    logs = np.log([story.scale for story in stories.stories])
    slope = np.polyfit(logs, [_half_fall(story) for story in stories.stories], 1)[0]
    predicted = float(stories.stories[-1].phases.rich) / logs[-1]
    words = "|fitted growth of the time of half of the fall with log(alpha), over 2/lambda, - 1|"
    claim = "the rich phase comes at 2 log(alpha)/lambda"
    return Verdict(label, claim, words, abs(float(slope) / predicted - 1.0), 0.1)


def _half_fall(story: Story) -> float:
    """Return when the test error is half way between its plateau and its value at the fixed point."""
    curve, late = story.limit["test_error"].value, story.times > 0.5 * float(story.phases.rich)
    half = 0.5 * (curve[late][0] + story.end)
    return float(np.interp(-half, -curve[late], story.times[late]))


def judge_monotone(label: str, stories: Stories) -> Verdict:
    """Find the init scale from which on the training error rises after its least, as weights become sparse."""
    rises = [bool(_rise(story) > RISE) for story in stories.stories]
    first = rises.index(True) if any(rises) else len(rises) - 1
    scales = [story.scale for story in stories.stories]
    turn = float(np.sqrt(scales[max(first - 1, 0)] * scales[first]))
    words = f"factor between {turn:.2g}, where the training error ceases to be monotone, and 0.3"
    return Verdict(label, "monotonicity changes at init scale 0.3 or so", words, max(turn / 0.3, 0.3 / turn), 3.0)


def _rise(story: Story) -> float:
    curve = story.limit["train_error"].value
    return float(curve[-1] / curve.min() - 1.0)


def judge_plateau(label: str, stories: Stories) -> Verdict:
    """See how much the training error of the smallest initialisation changes in the search phase."""
    story = stories.stories[-1]
    early = np.interp(float(story.phases.search), story.times, story.limit["train_error"].value)
    change = abs(early / story.limit["train_error"].value[0] - 1.0)
    words = "change of the training error in the search phase, smallest initialisation"
    return Verdict(label, "small initialisations begin with a plateau", words, float(change), 0.01)


def judge_one_by_one(label: str, stories: Stories) -> Verdict:
    """Compare when coordinates become active, within a trial, with how long the rise of one takes."""
    story = stories.stories[-1]
    weights, w_star = story.weights.to_numpy(), story.w_star.to_numpy()
    spreads, rises = [], []
    for own, target in zip(weights, w_star, strict=True):
        support = own[:, target != 0.0]
        learned = support[:, support[-1] > LEARNED]
        quarter, half, three = (_first_times(story.times, learned, part) for part in (0.25, 0.5, 0.75))
        spreads.append(float(np.subtract(*np.percentile(half, [75, 25]))))
        rises.append(float(np.median(three - quarter)))
    words = "quartile range of the times at which coordinates become active, over the time that one takes to rise"
    value = float(np.mean(spreads) / np.mean(rises))
    return Verdict(label, "small initialisations learn target coordinates one by one", words, value, 1.0, "above")


def _first_times(times: Numbers, paths: Any, part: float) -> Numbers:
    """Return when each path first has a part of its last weight."""
    return times[np.argmax(paths > part * paths[-1], axis=0)]
