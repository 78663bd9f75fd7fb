"""The training error less its value at the fixed point, with the slope of theory."""

import numpy as np

from .chart import Chart
from .look import COLOURS, Look
from .picture import Scene

LATE = 0.3
"""Part of the time after which the slope of theory is drawn."""


class Decay:
    """How fast training converges."""

    def __init__(self, look: Look) -> None:
        self.chart = Chart(look, "time t", "training error less its fixed point", log_x=True, log_y=True)
        self.root = self.chart.figure
        self.curve = self.chart.layer("line", "limit", color=COLOURS["train_error"], line_width=2)
        self.slope = self.chart.layer("line", "theory", color=look.text, line_width=2, line_dash="dashed")

    def show(self, scene: Scene) -> None:
        """Draw where the limit is known well enough to differ from its value at the fixed point."""
        limit, theory = scene.found.limit, scene.found.theory
        self.slope.hide()
        if limit is None or not len(limit.times) or theory.point is None:
            self.curve.hide()
            return self.chart.say("no closed form for this problem" if limit is not None else "being computed")
        left = np.abs(limit.train_error - float(theory.point.train_error))
        shown = (limit.times > 0.0) & (left > limit.train_error_stderr)
        times, left = limit.times[shown], left[shown]
        self.curve.put(x=times, y=left)
        self.chart.say("")
        if theory.rate is None or not len(times):
            return None
        gamma, power = float(theory.rate.train_rate) / 2.0, theory.rate.power
        late = times[times > LATE * times[-1]]
        words = f"t^-3/2 exp(-2γt), γ = {gamma:.3g}" if gamma > 0.0 else f"t^{power:g}"
        slope = (late / late[-1]) ** power * np.exp(-2.0 * gamma * (late - late[-1])) * left[-1]
        return self.slope.put(words, x=late, y=slope)
