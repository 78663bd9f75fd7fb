"""A figure with layers of glyphs, each with its own numbers, and a word where there are none."""

from typing import Any

from bokeh.core.properties import value
from bokeh.models import ColumnDataSource, LegendItem

from .look import Look, add_hover, add_legend, empty_figure

GLYPHS = {
    "line": ("x", "y"),
    "step": ("x", "y"),
    "scatter": ("x", "y"),
    "segment": ("x0", "y0", "x1", "y1"),
    "varea": ("x", "y1", "y2"),
    "quad": ("left", "right", "bottom", "top"),
}
"""Columns of each kind of glyph."""


class Layer:
    """Glyphs of one kind, a name in the legend, and their columns of numbers."""

    def __init__(self, source: Any, item: Any) -> None:
        self.source, self._item = source, item

    def put(self, words: str | None = None, **columns: Any) -> None:
        """Show these numbers, under another name if one is given."""
        self.source.data = columns
        if self._item is not None:
            self._item.visible = bool(len(next(iter(columns.values()))))
            if words is not None:
                self._item.label = value(words)

    def hide(self) -> None:
        """Show nothing."""
        self.put(None, **{name: [] for name in self.source.data})


class Chart:
    """A figure and its legend; ``figure`` is what stands on the page."""

    def __init__(self, look: Look, x: str, y: str, **options: Any) -> None:
        self.figure = empty_figure(look, x, y, **options)
        self._legend = add_legend(self.figure, look)
        self._hover = add_hover(self.figure, x)
        self.say("being computed")

    def say(self, words: str) -> None:
        """Say why there is nothing to see, or nothing."""
        self.figure.title.text = words

    def tell(self, words: str, column: str) -> None:
        """Have the pointer tell another column of lines, too."""
        self._hover.tooltips = [*self._hover.tooltips, (words, f"@{column}{{0.[000]}}")]

    def layer(self, glyph: str, words: str | None = None, **look: Any) -> Layer:
        """Add glyphs whose columns have the names of their properties."""
        columns = GLYPHS[glyph]
        source = ColumnDataSource({name: [] for name in columns})
        renderer = getattr(self.figure, glyph)(source=source, **{name: name for name in columns}, **look)
        if glyph == "line":
            self._hover.renderers = [*self._hover.renderers, renderer]
        item = None
        if words is not None:
            source.name = words
            item = LegendItem(label=value(words), renderers=[renderer], visible=False)
            self._legend.items.append(item)
        return Layer(source, item)
