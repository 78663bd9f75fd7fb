"""A bar drawn by a separate thread, so that it moves while a compilation blocks; it goes when the work is done."""

import contextvars
import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any

LENGTH = 30
"""Columns of the bar itself."""
WIDTH = 80
"""Columns of a line, where nothing says how many there are."""
WIPE = "\r\x1b[2K"
"""Go to the first column of the line, and empty it."""


class Screen(ABC):
    """Where a bar is drawn, and how many seconds apart."""

    every: float

    @abstractmethod
    def show(self, line: str) -> None:
        """Draw a line in place of the last one."""

    @abstractmethod
    def clear(self) -> None:
        """Take away what was drawn."""


class Terminal(Screen):
    """The last line of a terminal."""

    every = 0.2

    def __init__(self, stream: Any):
        self._stream = stream

    def show(self, line: str) -> None:
        """Draw a line, cut so that it does not wrap."""
        self._write(WIPE + line[: self._columns() - 1])

    def clear(self) -> None:
        """Leave an empty line, and the cursor in its first column."""
        self._write(WIPE)

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or WIDTH
        except OSError:
            return WIDTH

    def _write(self, text: str) -> None:
        self._stream.write(_encodable(text, self._stream))
        self._stream.flush()


class Cell(Screen):
    """An output of a notebook's cell. One that was shown cannot be deleted, but it can be made empty."""

    every = 0.5

    def __init__(self):
        self._handle: Any = None

    def show(self, line: str) -> None:
        """Draw a line."""
        from IPython.display import display

        data = {"text/plain": line}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def clear(self) -> None:
        """Leave an output without content."""
        self._handle.update({}, raw=True)


class Lines(Screen):
    """A file or a pipe, where nothing can be taken back: a line now and then."""

    every = 10.0

    def __init__(self, stream: Any):
        self._stream = stream

    def show(self, line: str) -> None:
        """Write a line."""
        print(_encodable(line, self._stream), file=self._stream, flush=True)

    def clear(self) -> None:
        """Leave what was written."""


class Bar:
    """A bar from some seconds on until the block ends, and no thread after that.

    As a context it gives the function ``(fraction, message)`` that moves it.
    """

    def __init__(self, title: str, screen: Screen, *, after: float):
        self._title, self._screen, self._after = title, screen, after
        self._fraction, self._message = 0.0, ""
        self._began = time.monotonic()
        self._ended = threading.Event()
        here = contextvars.copy_context()  # says which cell of a notebook runs
        self._thread = threading.Thread(target=here.run, args=(self._draw,), name="flowlimit progress", daemon=True)

    def __enter__(self) -> Callable[[float, str], None]:
        self._thread.start()
        return self._move

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _move(self, fraction: float, message: str) -> None:
        self._fraction, self._message = fraction, message

    def _draw(self) -> None:
        if self._after and self._ended.wait(self._after):
            return
        with suppress(OSError, ValueError):  # a terminal that went away is no reason to end the work
            self._screen.show(self._line())
            while not self._ended.wait(self._screen.every):
                self._screen.show(self._line())
            self._screen.clear()

    def _line(self) -> str:
        part = min(max(float(self._fraction), 0.0), 1.0)
        done, seconds = round(LENGTH * part), int(time.monotonic() - self._began)
        bar = "━" * done + "─" * (LENGTH - done)
        said = f"{self._title}: {self._message}" if self._message else self._title
        return f"{bar} {part:4.0%} {seconds // 60}:{seconds % 60:02d}  {said}"


def find_screen() -> Screen:
    """Return the cell of a notebook, the terminal, or what else errors are written to."""
    if in_kernel():
        return Cell()
    return Terminal(sys.stderr) if on_terminal() else Lines(sys.stderr)


def in_kernel() -> bool:
    """Whether this code runs in a notebook's kernel; asks IPython only if it has been imported."""
    get = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return get is not None and getattr(get(), "kernel", None) is not None


def on_terminal() -> bool:
    """Whether errors are written to a terminal on which a line can be drawn again."""
    stream = sys.stderr
    return stream is not None and not stream.closed and stream.isatty() and os.environ.get("TERM") != "dumb"


def _encodable(text: str, stream: Any) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeError:
        plain = text.translate({ord("━"): "#", ord("─"): "-"})
        return plain.encode(encoding, "replace").decode(encoding)
    return text
