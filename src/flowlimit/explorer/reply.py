"""Short answers in plain words, in place of a page."""

from collections.abc import Mapping
from typing import NamedTuple

from tornado.web import RequestHandler


class Reply(NamedTuple):
    """A status, words, and headers."""

    status: int
    words: str
    headers: Mapping[str, str] = {}


class Answer(RequestHandler):
    """Answers any request by a reply; a websocket is refused by it."""

    def initialize(self, reply: Reply) -> None:
        """Take the reply."""
        self._reply = reply

    def prepare(self) -> None:
        """Answer, whatever the method."""
        self.set_status(self._reply.status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        for name, value in self._reply.headers.items():
            self.set_header(name, value)
        self.finish(f"{self._reply.words}\n")
