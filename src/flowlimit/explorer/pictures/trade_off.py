"""The test error at the fixed point against the rate over init scales, with the current point."""

from .chart import Chart
from .look import COLOURS, Look
from .picture import Scene


class TradeOff:
    """Speed against generalization."""

    def __init__(self, look: Look) -> None:
        self.chart = Chart(look, "rate γ", "test error at the fixed point", log_x=True)
        self.root = self.chart.figure
        self.over = self.chart.layer("line", "over init scales, λ = 0", color=look.text, line_width=2)
        self.chart.tell("init scale", "scale")
        self.here = self.chart.layer("scatter", "here", color=COLOURS["test_error"], size=12)

    def show(self, scene: Scene) -> None:
        """Draw the curve, and the current point on it or beside it."""
        known, theory = scene.found.trade_off, scene.found.theory
        self.here.hide()
        if known is None:
            self.over.hide()
            return self.chart.say("no rate at this aspect ratio")
        self.chart.say("")
        self.over.put(x=known.gamma, y=known.test_error, scale=known.scales)
        rate = theory.rate
        if rate is None or rate.kind != "exponential":
            return None
        words = f"α = {scene.inputs.init_scale:.3g}"
        return self.here.put(words, x=[float(rate.gamma)], y=[float(rate.point.test_error)])
