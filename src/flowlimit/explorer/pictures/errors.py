"""Both errors in time: the limit in its band, runs as points, fixed points as dashed lines, phases shaded and named."""

import numpy as np
from bokeh.models import BoxAnnotation, DataRange1d, Label, Node, Range1d, Span

from ...results import Limit, Runs
from ..answers import Theory
from ..inputs import Inputs
from .chart import Chart
from .look import COLOURS, WORDS, Look
from .picture import Scene

SHADES = (("#0072B2", 0.10), ("#E69F00", 0.14))
NAME = {"x": 1.0, "text_align": "center", "text_font_size": "12px"}
BELOW_TOP = 18
"""Pixels from the top of the frame to the name of a phase."""
MARKERS = 24
EARLIEST = 1e-4
"""Part of the horizon below which times are not shown."""


class Errors:
    """Training and test error."""

    def __init__(self, look: Look) -> None:
        self.times = Range1d(start=1e-2, end=1e1)
        ranges = {"x_range": self.times, "y_range": DataRange1d(start=0.0, range_padding=0.25)}
        self.chart = chart = Chart(look, "time t", "error", log_x=True, **ranges)
        self.root = self.chart.figure
        each = lambda make: {name: make(name, colour) for name, colour in COLOURS.items()}
        self.bands = each(lambda _, colour: chart.layer("varea", color=colour, alpha=0.25))
        self.lines = each(lambda name, colour: chart.layer("line", WORDS[name], color=colour, line_width=2))
        self.bars = each(lambda _, colour: chart.layer("segment", color=colour))
        mark = {"fill_color": None, "size": 6}
        self.points = each(
            lambda name, colour: chart.layer("scatter", f"{WORDS[name]}, runs", line_color=colour, **mark)
        )
        self.ends = each(lambda _, colour: Span(dimension="width", line_color=colour, line_dash="dashed"))
        self.boxes = [BoxAnnotation(fill_color=c, fill_alpha=alpha, level="underlay") for c, alpha in SHADES]
        height = Node(target="frame", symbol="top", offset=BELOW_TOP)
        named = {"y": height, "text_color": look.text}
        self.names = [Label(**NAME, **named, name=f"{which} phase") for which in ("first", "second")]
        for one in (*self.ends.values(), *self.boxes, *self.names):
            one.visible = False
            chart.figure.add_layout(one)

    def show(self, scene: Scene) -> None:
        """Draw what was found so far."""
        limit, runs, theory = scene.found.limit, scene.found.runs, scene.found.theory
        first = first_time(limit, scene.inputs)
        for name in COLOURS:
            self._show_limit(name, limit, first)
            self._show_runs(name, runs)
            self.ends[name].visible = theory.point is not None
            if theory.point is not None:
                self.ends[name].location = float(getattr(theory.point, name))
        self.times.update(start=first, end=scene.inputs.horizon)
        self._show_phases(phases(theory, first, scene.inputs.horizon))
        self.chart.say("" if scene.found.records else "being computed")

    def _show_limit(self, name: str, limit: Limit | None, first: float) -> None:
        if limit is None or not len(limit.times):
            self.bands[name].hide()
            self.lines[name].hide()
            return
        shown = limit.times >= first
        times, value, bar = limit.times[shown], limit[name].value[shown], 2.0 * limit[name].stderr[shown]
        self.bands[name].put(x=times, y1=value - bar, y2=value + bar)
        self.lines[name].put(x=times, y=value)

    def _show_runs(self, name: str, runs: Runs | None) -> None:
        if runs is None or not len(runs.times):
            self.points[name].hide()
            self.bars[name].hide()
            return
        last = float(runs.times[-1])
        wanted = np.geomspace(max(last * 1e-3, 1e-9), last, MARKERS)
        some = np.unique(np.abs(runs.times[None] - wanted[:, None]).argmin(axis=1))
        times, value, bar = runs.times[some], runs[name].value[some], runs[name].stderr[some]
        self.points[name].put(x=times, y=value)
        self.bars[name].put(x0=times, x1=times, y0=value - bar, y1=value + bar)

    def _show_phases(self, found: list[tuple[str, float, float]]) -> None:
        for one in (*self.boxes, *self.names):
            one.visible = bool(found)
        for box, name, (words, start, stop) in zip(self.boxes, self.names, found, strict=False):
            box.update(left=start, right=stop)
            name.update(x=float(np.sqrt(start * stop)), text=words)


def first_time(limit: Limit | None, inputs: Inputs) -> float:
    """Return the first time that is shown."""
    known = limit.times[limit.times > 0.0] if limit is not None else np.zeros(0)
    return max(float(known[0]), EARLIEST * inputs.horizon) if len(known) else 1e-3 * inputs.horizon


def phases(theory: Theory, first: float, last: float) -> list[tuple[str, float, float]]:
    """Return names, starts and ends of the phases that theory predicts within the picture."""
    if theory.times is None:
        return []
    large = theory.times.regime == "large"
    turn = float(theory.times.rich_sharp if large else theory.times.search)
    before, after = ("lazy", "rich") if large else ("search", "descent")
    return [(before, first, turn), (after, turn, last)] if first < turn < last else []
