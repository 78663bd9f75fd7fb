"""The kernels C_w and R_w as heat maps over two times."""

from typing import Any

import numpy as np
from bokeh.layouts import row
from bokeh.models import ColorBar, ColumnDataSource, LinearColorMapper, Range1d
from jaxtyping import Float

from ...results import Limit
from .look import Look, empty_figure
from .picture import Scene

SQUARES = 48
"""Squares along a side of a heat map."""
NAMES = ("C_w", "R_w")
NOTHING: dict[str, Any] = {"image": [], "x": [], "y": [], "dw": [], "dh": []}
"""Columns of a map without an image."""


class Kernels:
    """Two heat maps beside each other."""

    def __init__(self, look: Look) -> None:
        self.span = Range1d(start=0.0, end=1.0)
        self.maps = {name: _HeatMap(look, name, self.span) for name in NAMES}
        self.root = row(*(one.figure for one in self.maps.values()), sizing_mode="stretch_width")

    def show(self, scene: Scene) -> None:
        """Draw the limit's kernels."""
        limit = scene.found.limit
        if limit is None or limit.kernels is None:
            for one in self.maps.values():
                one.hide("the limit is being solved" if limit is None else "no kernels: old steps are merged")
            return
        low, high, values = squares(limit)
        self.span.update(start=low, end=high)
        for name, one in self.maps.items():
            one.show(values[name], low, high)


class _HeatMap:
    def __init__(self, look: Look, name: str, span: Range1d) -> None:
        self.figure = empty_figure(look, "log10 s", "log10 t", x_range=span, y_range=span)
        self.name = f"{name}(t, s)"
        self.figure.xaxis.ticker.desired_num_ticks = 3  # on a narrow window more would overlap
        self.colours = LinearColorMapper(palette="Viridis256", low=0.0, high=1.0, nan_color="rgba(0,0,0,0)")
        self.source: Any = ColumnDataSource(NOTHING)
        self.figure.image("image", "x", "y", "dw", "dh", source=self.source, color_mapper=self.colours)
        bar = ColorBar(color_mapper=self.colours, width=8, background_fill_color=look.back)
        bar.major_label_text_color = look.text
        self.figure.add_layout(bar, "right")

    def hide(self, words: str) -> None:
        self.figure.title.text, self.source.data = words, NOTHING

    def show(self, values: Float[np.ndarray, "t s"], low: float, high: float) -> None:
        self.figure.title.text = self.name
        self.colours.update(low=float(np.nanmin(values)), high=float(np.nanmax(values)))
        size = high - low
        self.source.data = {"image": [values], "x": [low], "y": [low], "dw": [size], "dh": [size]}


def squares(limit: Limit) -> tuple[float, float, dict[str, Float[np.ndarray, "t s"]]]:
    """Return the range of log10 t, and each kernel at the nodes nearest to even log times; R_w up to s = t."""
    assert limit.kernels is not None
    after = np.flatnonzero(limit.kernels.times > 0.0)
    logs = np.log10(limit.kernels.times[after])
    even = np.linspace(logs[0], logs[-1], SQUARES)
    nearest = after[np.abs(even[:, None] - logs[None]).argmin(axis=1)]
    values = {name: getattr(limit.kernels, name)[np.ix_(nearest, nearest)].astype(float) for name in NAMES}
    values["R_w"][np.triu_indices(SQUARES, 1)] = np.nan
    return float(logs[0]), float(logs[-1]), values
