"""One thread a session: the newest request is answered in parts, and older ones are dropped at once."""

import threading
from collections.abc import Callable
from typing import Any

from .answers import COARSE, FINE, limit_of, runs_of, theory_of, trade_off_of
from .inputs import Inputs

Publish = Callable[[Inputs, str, Any], None]
"""Gives a part of an answer to who asked: theory, limit, runs, trade_off, done, or failed with a message."""


class Worker:
    """Answers requests, one heavy job at a time."""

    def __init__(self, publish: Publish) -> None:
        self._publish = publish
        self._wanted: Inputs | None = None
        self._ended = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._loop, daemon=True)
        self._thread.start()

    def ask(self, inputs: Inputs) -> None:
        """Ask for answers; what is being computed for older inputs stops."""
        with self._changed:
            self._wanted = inputs.bounded()
            self._changed.notify()

    def end(self) -> None:
        """End the thread, soon."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def _loop(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ended or self._wanted is not None)
                if self._ended:
                    return
                inputs, self._wanted = self._wanted, None
            assert inputs is not None
            try:
                self._answer(inputs)
            except Exception as error:  # a thread that dies in silence leaves a dead page
                self._publish(inputs, "failed", f"{type(error).__name__}: {error}")

    def _stale(self) -> bool:
        return self._ended or self._wanted is not None

    def _answer(self, inputs: Inputs) -> None:
        parts = (
            ("theory", lambda: theory_of(inputs)),
            ("limit", lambda: limit_of(inputs, COARSE, self._stale)),
            ("trade_off", lambda: trade_off_of(inputs)),
            ("runs", lambda: runs_of(inputs, self._stale)),
            ("limit", lambda: limit_of(inputs, FINE, self._stale)),
        )
        for name, compute in parts:
            found = compute()
            if self._stale():
                return
            self._publish(inputs, name, found)
        self._publish(inputs, "done", None)
