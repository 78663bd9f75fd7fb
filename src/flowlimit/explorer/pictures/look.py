"""Colours of light and dark, and an empty figure in them."""

from typing import Any, NamedTuple

from bokeh.models import HoverTool, Legend
from bokeh.plotting import figure

COLOURS = {"train_error": "#0072B2", "test_error": "#D55E00"}
WORDS = {"train_error": "training error", "test_error": "test error"}
HEIGHT = 330
TOOLS = "pan,wheel_zoom,box_zoom,reset,save"


class Look(NamedTuple):
    """Colours of a theme."""

    text: str
    grid: str
    back: str


LOOKS = {"default": Look("#222222", "#dddddd", "#ffffff"), "dark": Look("#e8e8e8", "#444444", "#181818")}


def empty_figure(look: Look, x: str, y: str, *, log_x: bool = False, log_y: bool = False, **ranges: Any) -> Any:
    """Return a figure that fills the width it is given."""
    kinds = {"x_axis_type": "log" if log_x else "linear", "y_axis_type": "log" if log_y else "linear"}
    own: Any = figure(
        height=HEIGHT, sizing_mode="stretch_width", tools=TOOLS, toolbar_location="right", **kinds, **ranges
    )
    own.toolbar.autohide, own.toolbar.logo = True, None
    own.background_fill_color = own.border_fill_color = look.back
    own.outline_line_color = None
    own.title.text_color = look.text
    own.title.text_font_style = "normal"
    own.grid.grid_line_color = look.grid
    own.xaxis.axis_label, own.yaxis.axis_label = x, y
    for axis in own.axis:
        axis.axis_label_text_color = axis.major_label_text_color = look.text
        axis.axis_line_color = axis.major_tick_line_color = axis.minor_tick_line_color = look.text
        axis.axis_label_text_font_style = "normal"
    return own


def add_legend(own: Any, look: Look) -> Any:
    """Return a legend above the figure, without items."""
    legend: Any = Legend(orientation="horizontal", ncols=2, click_policy="hide")  # two columns fit a phone
    legend.spacing, legend.padding, legend.margin = 8, 2, 0
    legend.label_text_font_size = "11px"
    legend.label_text_color, legend.background_fill_color, legend.border_line_color = look.text, look.back, None
    own.add_layout(legend, "above")
    return legend


def add_hover(own: Any, x: str) -> Any:
    """Return a tool that tells the numbers under the pointer, of no renderer yet."""
    numbers = [(x, "$snap_x{0.[0000]}"), ("", "$snap_y{0.[000000]}")]
    hover = HoverTool(renderers=[], tooltips=numbers)
    own.add_tools(hover)
    return hover
