"""What a notebook shows of a result: a small table, and each curve as a line of a few pixels. All text is escaped."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from .format import uncertain
from .words import long_name

if TYPE_CHECKING:
    from .record import Record

WIDTH, HEIGHT, MARGIN = 120, 32, 2
CELL = "text-align:right;padding:1px 8px"


def heading(lines: Iterable[str]) -> str:
    """Return lines of text, the first one bold."""
    first, *others = lines
    return "<br/>".join([f"<b>{escape(first)}</b>", *map(escape, others)])


def table(head: Sequence[str], rows: Iterable[Sequence[str]], pictures: Sequence[str] = ()) -> str:
    """Return a table of text; ``pictures``, which are not escaped, stand below the head."""
    cells = lambda kind, words: "".join(f'<{kind} style="{CELL}">{word}</{kind}>' for word in words)
    row = lambda kind, words: f"<tr>{cells(kind, words)}</tr>"
    body = [row("th", map(escape, head))] if head else []
    body += [row("td", pictures)] if pictures else []
    body += [row("td", map(escape, words)) for words in rows]
    return f"<table>{''.join(body)}</table>"


def curves_table(record: "Record", rows: int = 6) -> str:
    """Return values with standard errors at a few times, each curve's line above them."""
    names, index = record._shown_curves(), some_rows(len(record.times), rows)
    head = ["time", *names]
    lines = [sparkline(record.times, record.curves[name].value, long_name(name)) for name in names]
    body = [
        [f"{record.times[i]:.4g}"]
        + [uncertain(float(record.curves[name].value[i]), float(record.curves[name].stderr[i])) for name in names]
        for i in index
    ]
    return table(head, body, ["", *lines] if len(record.times) > 1 else ())


def some_rows(count: int, rows: int) -> list[int]:
    """Return the places of a few of so many rows, from the first to the last."""
    return sorted({int(i) for i in np.linspace(0, count - 1, min(rows, count)).round()})


def sparkline(x: np.ndarray, y: np.ndarray, title: str = "") -> str:
    """Return a curve as a line in SVG, over log time; its height is a log of the value where that spans a decade."""
    known = np.isfinite(x) & np.isfinite(y)
    x, y = np.asarray(x, float)[known], np.asarray(y, float)[known]
    across, up = _unit(_logarithmic_time(x)), _unit(_logarithmic(y))
    left, top = MARGIN + across * (WIDTH - 2 * MARGIN), HEIGHT - MARGIN - up * (HEIGHT - 2 * MARGIN)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(left, top, strict=True))
    line = f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg {size} role="img"><title>{escape(title)}</title>{line}</svg>'


def _logarithmic_time(x: np.ndarray) -> np.ndarray:
    positive = x[x > 0.0]
    return np.log1p(x / positive[0]) if len(positive) else x


def _logarithmic(y: np.ndarray) -> np.ndarray:
    spans_decade = len(y) and y.min() > 0.0 and y.max() > 10.0 * y.min()
    return np.log(y) if spans_decade else y


def _unit(values: np.ndarray) -> np.ndarray:
    """Return values moved to [0, 1]; equal ones stand in the middle."""
    if not len(values) or values.min() == values.max():
        return np.full(values.shape, 0.5)
    halved = 0.5 * values  # differences of the largest numbers would overflow
    return (halved - halved.min()) / (halved.max() - halved.min())
