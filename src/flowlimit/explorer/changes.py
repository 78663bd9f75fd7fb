"""Changes of a page: one after another, as steps of its document, once the browser has it."""

from collections.abc import Callable
from typing import Any

import panel as pn
from tornado.ioloop import IOLoop

Change = Callable[[], None]


class Changes:
    """Makes changes of Bokeh's models in the order in which they were asked for.

    Changes of Bokeh's models and of Panel's objects travel on two roads. Bokeh writes in order when the step of the
    document ends. Panel writes at once or, while the socket is busy, some milliseconds later. A model counts as
    known to the browser as soon as the message that brings it is made, so numbers for a new figure (Bokeh's road)
    overtook the figure (a pane's object, Panel's road): "reference p2281 isn't known". Hence all figures are made
    before the page is sent, and pictures and status are changed on Bokeh's road alone, by what is given to `soon`.
    """

    def __init__(self) -> None:
        self._document: Any = pn.state.curdoc
        self._loop = None if self._document is None else IOLoop.current()
        self._served = self._document is not None and self._document.session_context is not None
        self._waiting: list[Change] | None = []  # until the page has loaded
        self._ended = False
        if self._document is not None:
            pn.state.onload(self._load)

    def soon(self, change: Change) -> None:
        """Make a change, after those before it; at once where there is no server. Any thread may ask."""
        if self._loop is None:
            change()
        else:
            # By the loop: what another thread adds to the document while Panel lets held events go can be lost.
            self._loop.add_callback(self._queue, change)

    def are_seen(self) -> bool:
        """Whether a browser has the page open; True where there is no server.

        A session that is being ended loses its context before it is told so: its page is not seen any more.
        """
        if not self._served:
            return True
        session = getattr(self._document.session_context, "session", None)
        return session is not None and session.connection_count > 0

    def end(self) -> None:
        """Make no more changes: the document is gone."""
        self._ended = True

    def _load(self) -> None:
        waiting, self._waiting = self._waiting or [], None
        for change in waiting:
            self._queue(change)

    def _queue(self, change: Change) -> None:
        if self._ended:
            return
        if self._waiting is not None:
            self._waiting.append(change)
        else:
            self._document.add_next_tick_callback(change)
