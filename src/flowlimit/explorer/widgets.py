"""Pieces of the page: sliders within bounds, cards for pictures, buttons that give a text to copy."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import Div

from .inputs import PRESETS, SLIDERS, Inputs

WIDTH = 380
"""The least of a picture."""
STOPS = 81
"""Places of a slider on a log scale."""
COPY = "setTimeout(() => navigator.clipboard && navigator.clipboard.writeText(shown.value), 600)"


def slider(name: str, value: float) -> Any:
    """Return the slider of a number."""
    own = SLIDERS[name]
    if not own.log:
        return pn.widgets.FloatSlider(name=own.words, start=own.low, end=own.high, step=0.01, value=value)
    return pn.widgets.DiscreteSlider(name=own.words, options=log_stops(name), value=value)


def log_stops(name: str) -> list[float]:
    """Return the places of a slider on a log scale, those of presets among them."""
    own = SLIDERS[name]
    even = {float(f"{value:.2g}") for value in np.geomspace(own.low, own.high, STOPS)}
    return sorted(even | {float(getattr(inputs, name)) for inputs in (Inputs(), *PRESETS.values())})


def choice(name: str, options: Sequence[int], value: int) -> Any:
    """Return buttons of which one is down."""
    return pn.widgets.RadioButtonGroup(name=name, options=list(options), value=value, button_type="primary")


def player(last: int) -> Any:
    """Return a slider over times that plays by itself."""
    look = {"interval": 250, "show_loop_controls": False, "sizing_mode": "stretch_width"}
    return pn.widgets.Player(name="time", start=0, end=last, value=last, **look)


def status(colour: str, words: str) -> Div:
    """Return a place for words, of Bokeh: changed like the pictures, words and numbers come in order."""
    styles: Any = {"color": colour, "white-space": "pre-line"}
    return Div(name="status", text=words, render_as_text=True, styles=styles, margin=(5, 10))


def card(title: str, name: str, *parts: Any) -> Any:
    """Return a card that shares a row with another where there is space."""
    look = {"min_width": WIDTH, "css_classes": [f"card-{name}"], "styles": {"flex": "1 1 45%"}}
    return pn.Card(*parts, title=title, collapsible=False, **look)


def copy_button(words: str, text: Callable[[], str]) -> Any:
    """Return a button that shows a text and puts it on the clipboard, where the browser allows it."""
    shown = pn.widgets.TextAreaInput(value="", visible=False, height=180, sizing_mode="stretch_width")
    button = pn.widgets.Button(name=words)

    def press(_: Any) -> None:
        shown.value, shown.visible = text(), not shown.visible

    button.on_click(press)
    button.js_on_click(args={"shown": shown}, code=COPY)
    return pn.Column(button, shown, sizing_mode="stretch_width")
