"""How many sessions there may be: making a page takes the server a second, and each holds memory and two threads."""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakSet

from bokeh.util.token import get_session_id
from tornado.httputil import HTTPServerRequest

from .reply import Reply

MOST_SESSIONS = 20
MOST_UNSEEN = 8
"""Pages at a time that were asked for and that no browser has opened yet."""
LONGEST_MAKING, LONGEST_REST = 60.0, 2.0
"""Seconds: a request that takes longer is not waited for, and the most that the server rests after a page."""
AGAIN = 3
"""Seconds after which who waits asks again."""
FULL = "The explorer has {} pages open and takes no more. This page asks again by itself; close pages you do not need."
BUSY = "The explorer is making other pages. This one asks again by itself in {} seconds."


class Crowd:
    """Counts sessions, and pages in the making; only who has come in by a page opens a websocket."""

    def __init__(self, sessions: Callable[[], Sequence[Any]]) -> None:
        self._sessions = sessions
        self._seen: set[str] = set()
        self._making: WeakSet[HTTPServerRequest] = WeakSet()
        self._rest = -math.inf

    def reply(self, request: HTTPServerRequest) -> Reply | None:
        """Return what to say to who cannot come in; None to others."""
        if request.path == "/ws":
            return self._socket(request)
        return self._page(request) if request.path == "/" else None

    def made(self, handler: Any) -> None:
        """Note that a request was answered; after a page the server has some time for other work."""
        if handler.request in self._making:
            self._making.discard(handler.request)
            self._rest = time.monotonic() + min(handler.request.request_time(), LONGEST_REST)

    def _page(self, request: HTTPServerRequest) -> Reply | None:
        sessions = self._sessions()
        self._seen &= {session.id for session in sessions}
        unseen = [session for session in sessions if session.id not in self._seen]
        making = [other for other in self._making if other.request_time() < LONGEST_MAKING]
        headers = {"Retry-After": str(AGAIN), "Refresh": str(AGAIN)}
        if len(sessions) + len(making) >= MOST_SESSIONS:
            return Reply(503, FULL.format(len(sessions)), headers)
        if making or time.monotonic() < self._rest or len(unseen) >= MOST_UNSEEN:
            return Reply(503, BUSY.format(AGAIN), headers)
        self._making.add(request)
        return None

    def _socket(self, request: HTTPServerRequest) -> Reply | None:
        own = _session_id(request)
        if own not in {session.id for session in self._sessions()}:
            return Reply(403, "This page was closed by the server: load it again.")
        self._seen.add(own)
        return None


def _session_id(request: HTTPServerRequest) -> str:
    """Return the session that a websocket belongs to, as its second protocol says; empty if it does not."""
    try:
        return get_session_id(request.headers.get("Sec-WebSocket-Protocol", "").split(",")[1].strip())
    except Exception:  # anybody may send anything
        return ""
