"""The law of w(t): the limit's paths as a line, runs as bars, the density at the fixed point as a dashed line."""

from typing import Any

import numpy as np
from bokeh.models import Range1d

from ...results import Runs
from ..answers import LAW_POINTS
from .chart import Chart
from .look import COLOURS, Look
from .picture import Scene

BINS = 50
LOW, HIGH = 10**-2.5, 1e2


class Law:
    """The law of a weight at one time."""

    def __init__(self, look: Look) -> None:
        self.chart = Chart(look, "weight w(t)", "density", log_y=True, y_range=Range1d(start=LOW, end=HIGH))
        self.root = self.chart.figure
        self.bars = self.chart.layer("quad", "runs", color="#9aa0a6", line_color=None)
        self.paths = self.chart.layer("step", "limit", mode="center", color=look.text, line_width=2)
        dashed = {"color": COLOURS["test_error"], "line_width": 2, "line_dash": "dashed"}
        self.end = self.chart.layer("line", "density at the fixed point", **dashed)

    def show(self, scene: Scene) -> None:
        """Draw the law at the scene's time."""
        limit, theory = scene.found.limit, scene.found.theory
        if limit is None or limit.paths is None:
            for layer in (self.bars, self.paths, self.end):
                layer.hide()
            return self.chart.say("the limit is being solved")
        self.chart.say("")
        w = limit.paths.weights_at(min(scene.time, float(limit.times[-1])))
        bins = np.linspace(min(-0.3, float(w.min())), max(1.2, float(w.max())), BINS + 1)
        height = np.histogram(w, bins=bins, weights=limit.paths.probability, density=True)[0]
        words = f"limit, t = {scene.time:.3g}"
        self.paths.put(words, x=(bins[1:] + bins[:-1]) / 2.0, y=np.where(height > 0.0, height, np.nan))
        self._show_runs(scene.found.runs, scene.time, bins)
        if theory.point is None or theory.point.case == "threshold":
            return self.end.hide()
        at = np.linspace(bins[0], bins[-1], LAW_POINTS)
        return self.end.put(x=at, y=np.asarray(theory.point.density(at)))

    def _show_runs(self, runs: Runs | None, time: float, bins: Any) -> None:
        if runs is None or runs.weights is None or runs.weights_times is None or not len(runs.weights_times):
            return self.bars.hide()
        own = runs.weights[:, int(np.abs(runs.weights_times - time).argmin())].ravel()
        top = np.histogram(own, bins=bins)[0] / len(own) / np.diff(bins)
        seen = top > LOW
        low = np.full(int(seen.sum()), LOW)
        return self.bars.put(left=bins[:-1][seen], right=bins[1:][seen], bottom=low, top=top[seen])
