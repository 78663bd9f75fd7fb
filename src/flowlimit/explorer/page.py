"""One user's page: it asks its worker whenever a slider moves, and draws what comes back."""

import io
import json
from functools import partial
from typing import Any

import panel as pn

from .answers import Found, kept_limit, law_times
from .changes import Changes
from .inputs import DEPTHS, DIMS, PRESETS, SLIDERS, Inputs
from .pictures import HEIGHT, LOOKS, PICTURES, Picture, Scene
from .widgets import card, choice, copy_button, player, slider, status
from .worker import Worker

TITLES = {
    "errors": "Errors in time",
    "law": "Law of the weights",
    "trade_off": "Speed against generalization",
    "decay": "How fast it converges",
    "kernels": "Kernels of the limit",
}
AFFECTED = {
    "limit": ("errors",),
    "theory": ("errors", "decay", "law"),
    "trade_off": ("trade_off", "kernels"),
    "runs": ("errors", "law"),
    "done": ("decay", "law", "kernels"),
}
"""Pictures that are drawn anew with a part of an answer: the errors first, the large ones when the user is at rest."""

FIGURE = (9.0, 3.6)
"""Inches of a figure that is downloaded."""
OPENING = ("errors", "law", "kernels")
"""Pictures of the limit alone: if an earlier page asked for it, they are there when the page opens."""


class Page:
    """Widgets, pictures and a worker."""

    def __init__(self) -> None:
        self.look = LOOKS["dark" if pn.config.theme == "dark" else "default"]
        self.inputs = Inputs()
        self.found = Found(limit=kept_limit(self.inputs))
        self.sliders = {name: slider(name, getattr(self.inputs, name)) for name in SLIDERS}
        self.depth = choice("depth", DEPTHS, self.inputs.depth)
        self.dim = choice("dim", DIMS, self.inputs.dim)
        self.preset = pn.widgets.Select(name="Show me", options=["", *PRESETS], value="")
        last = len(law_times(self.inputs)) - 1
        self.player = player(last)
        self.status = status(self.look.text, "" if self.found.limit is None else self.found.words(done=False))
        # All figures are made before the page is sent: afterwards nothing but numbers and words travel.
        self.pictures: dict[str, Picture] = {name: PICTURES[name](self.look) for name in TITLES}
        self._setting, self._answered = False, None
        for name in OPENING:
            self._draw(name)
        self._watch()
        self.changes = Changes()
        self.worker = Worker(self._publish, self.changes.are_seen)
        if pn.state.curdoc is not None:
            pn.state.on_session_destroyed(self._end)
        pn.state.onload(self._begin)  # not before: the browser needs the cores for the page

    def controls(self) -> Any:
        """Return the widgets."""
        data = pn.widgets.FileDownload(callback=self._data, filename="flowlimit.json", label="data")
        figure = pn.widgets.FileDownload(callback=self._figure, filename="flowlimit.png", label="figure")
        words = pn.pane.Markdown
        return pn.Column(
            self.preset,
            *self.sliders.values(),
            *(words("depth of the network"), self.depth, words("dim of the runs"), self.dim),
            pn.layout.Divider(),
            copy_button("copy as Python", lambda: Inputs.to_python(self.inputs)),
            copy_button("copy as TOML", lambda: Inputs.to_toml(self.inputs)),
            pn.Row(data, figure),
            sizing_mode="stretch_width",
        )

    def main(self) -> Any:
        """Return the pictures; they stand beside each other where there is space."""
        below = {"law": [self.player]}
        pane = lambda name: pn.pane.Bokeh(self.pictures[name].root, height=HEIGHT, sizing_mode="stretch_width")
        cards = [card(words, name, pane(name), *below.get(name, [])) for name, words in TITLES.items()]
        return pn.Column(
            pn.pane.Bokeh(self.status, sizing_mode="stretch_width"),
            pn.FlexBox(*cards, gap="12px", sizing_mode="stretch_width"),
            sizing_mode="stretch_width",
        )

    def _watch(self) -> None:
        for widget in (*self.sliders.values(), self.depth, self.dim):
            widget.param.watch(self._changed, "value_throttled" if hasattr(widget, "value_throttled") else "value")
        self.preset.param.watch(self._show_preset, "value")
        self.player.param.watch(lambda _: self.changes.soon(partial(self._draw, "law")), "value")

    def _changed(self, _: Any) -> None:
        if self._setting:
            return
        numbers = {name: own.value for name, own in self.sliders.items()}
        self.inputs = Inputs(**numbers, depth=self.depth.value, dim=self.dim.value).bounded()
        self._ask()

    def _show_preset(self, event: Any) -> None:
        if event.new not in PRESETS:
            return
        self._setting = True
        wanted = PRESETS[event.new]
        for name, own in self.sliders.items():
            own.value = getattr(wanted, name)
        self.depth.value = wanted.depth
        self._setting = False
        self._changed(None)

    def _begin(self) -> None:
        if self.found.limit is None:
            self._ask()
        else:  # it is shown already
            self.worker.ask(self.inputs)

    def _ask(self) -> None:
        self.changes.soon(partial(self._say, "solving ..."))
        self.worker.ask(self.inputs)

    def _publish(self, inputs: Inputs, name: str, found: Any) -> None:
        """Take a part of an answer from the worker's thread to the page."""
        self.changes.soon(partial(self._show, inputs, name, found))

    def _say(self, words: str) -> None:
        self.status.text = words

    def _end(self, _: Any) -> None:
        self.changes.end()
        self.worker.end()

    def _show(self, inputs: Inputs, name: str, found: Any) -> None:
        if inputs != self.inputs.bounded():
            return
        if name == "waiting" and self._answered == inputs:
            return None  # a part is shown already: its words stay
        if name in ("failed", "waiting"):
            return self._say(found)
        if self._answered != inputs:  # the rest belongs to other inputs
            self.found, self._answered = Found(), inputs
        if name != "done":
            setattr(self.found, name, found)
        for picture in AFFECTED[name]:
            self._draw(picture)
        return self._say(self.found.words(done=name == "done"))

    def _draw(self, name: str) -> None:
        time = float(law_times(self.inputs)[int(self.player.value)])
        self.pictures[name].show(Scene(self.inputs, self.found, time))

    def _data(self) -> io.StringIO:
        return io.StringIO(json.dumps({"inputs": self.inputs.numbers()} | self.found.numbers(), indent=1))

    def _figure(self) -> io.BytesIO:
        from matplotlib.figure import Figure  # not by pyplot, which keeps figures and is not for several sessions

        from ..plot import curves

        out = io.BytesIO()
        if self.found.records:
            figure = Figure(figsize=FIGURE, layout="constrained")
            curves(*self.found.records, ax=figure.subplots(1, 2))
            figure.savefig(out, format="png", dpi=200)
        out.seek(0)
        return out
