"""Two threads per session: one for what a user waits for, one for what may take long. Older requests are dropped."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from .answers import FINE, coarse_limit, limit_of, runs_of, theory_of, trade_off_of
from .inputs import Inputs

Publish = Callable[[Inputs, str, Any], None]
"""Gives a part of an answer to who asked: limit, theory, trade_off, runs, done, or failed with a message."""
Parts = Callable[[Inputs], list[tuple[str, Callable[[], Any]]]]
QUIET = 1.0
"""Seconds without a new request before anything heavy begins: sliders are moved in a row."""


class Worker:
    """Answers the newest request: a coarse limit and closed forms at once, the rest when the user comes to rest."""

    def __init__(self, publish: Publish) -> None:
        self._publish = publish
        self._newest: Inputs | None = None
        self._ended = False
        self._changed = threading.Condition()
        for parts, wait in ((self._quick, 0.0), (self._slow, QUIET)):
            threading.Thread(target=self._loop, args=(parts, wait), daemon=True).start()

    def ask(self, inputs: Inputs) -> None:
        """Ask for answers; what is being computed for older inputs stops."""
        with self._changed:
            self._newest = inputs.bounded()
            self._changed.notify_all()

    def end(self) -> None:
        """End the threads, soon."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _loop(self, parts: Parts, wait: float) -> None:
        inputs: Inputs | None = None
        while True:
            with self._changed:
                self._changed.wait_for(partial(self._stale, inputs))
                while not self._ended and wait > 0.0 and self._changed.wait(wait):
                    pass  # another request came meanwhile
                if self._ended:
                    return
                inputs = self._newest
            assert inputs is not None
            try:
                self._answer(inputs, parts(inputs))
            except Exception as error:  # a thread that dies in silence leaves a dead page
                self._publish(inputs, "failed", f"{type(error).__name__}: {error}")

    def _answer(self, inputs: Inputs, parts: list[tuple[str, Callable[[], Any]]]) -> None:
        for name, compute in parts:
            found = compute()
            if self._stale(inputs):
                return
            self._publish(inputs, name, found)

    def _stale(self, inputs: Inputs | None) -> bool:
        return self._ended or self._newest is not inputs

    def _quick(self, inputs: Inputs) -> list[tuple[str, Callable[[], Any]]]:
        stop = lambda: self._stale(inputs)
        return [("limit", lambda: coarse_limit(inputs, stop)), ("theory", lambda: theory_of(inputs))]

    def _slow(self, inputs: Inputs) -> list[tuple[str, Callable[[], Any]]]:
        stop = lambda: self._stale(inputs)
        return [
            ("trade_off", lambda: trade_off_of(inputs)),
            ("runs", lambda: runs_of(inputs, stop)),
            ("limit", lambda: limit_of(inputs, FINE, stop)),
            ("done", lambda: None),
        ]
