"""Two threads per session: one for what a user waits for, one for what may take long. Older requests are dropped."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from .answers import TURNS, coarse_limit, fine_limit, has_runs_compiled, has_trade_off, runs_of, theory_of, trade_off_of
from .inputs import Inputs
from .turns import LOOK, Line, Stop

Publish = Callable[[Inputs, str, Any], None]
"""Gives a part of an answer to who asked: limit, theory, trade_off, runs, done; or words: waiting, failed."""
Part = tuple[str, Callable[[], Any]]
QUIET = 1.0
"""Seconds without a new request before anything heavy begins: sliders are moved in a row."""


class Worker:
    """Answers the newest request: a coarse limit and closed forms at once, the rest when the user comes to rest.

    What is being computed stops when a newer request comes and while nobody sees the page; it waits for its turn
    among all sessions.
    """

    def __init__(self, publish: Publish, is_seen: Callable[[], bool] = lambda: True) -> None:
        self._publish, self._is_seen = publish, is_seen
        self._newest: Inputs | None = None
        self._ended = False
        self._changed = threading.Condition()
        lines: tuple[Line, Line] = ("quick", "slow")
        for line in lines:
            threading.Thread(target=self._loop, args=(line,), daemon=True).start()

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

    def _loop(self, line: Line) -> None:
        inputs, wait = None, QUIET if line == "slow" else 0.0
        while (wanted := self._next(inputs, wait)) is not None:
            inputs = wanted
            try:
                whole = self._answer(line, inputs)
            except Exception as error:  # a thread that dies in silence leaves a dead page
                self._publish(inputs, "failed", f"{type(error).__name__}: {error}")
            else:
                inputs = inputs if whole else None  # asked for again if the page comes back

    def _next(self, answered: Inputs | None, wait: float) -> Inputs | None:
        """Return the newest request once there is one, somebody sees the page and it is quiet; None once ended."""
        with self._changed:
            self._changed.wait_for(partial(self._is_stale, answered))
            while not self._ended and not self._is_seen():
                self._changed.wait(LOOK)
            while not self._ended and wait > 0.0 and self._changed.wait(wait):
                pass  # another request came meanwhile
            return None if self._ended else self._newest

    def _answer(self, line: Line, inputs: Inputs) -> bool:
        """Publish the parts of an answer as they come; whether it is whole."""
        stop = lambda: self._is_stale(inputs) or not self._is_seen()
        tell = partial(self._tell, inputs) if line == "quick" else lambda before: None
        for name, compute in self._parts(line, inputs, stop):
            with TURNS.turn(line, stop, tell) as mine:
                found = compute() if mine else None
            if not mine or stop():
                return False
            self._publish(inputs, name, found)
        return True

    def _tell(self, inputs: Inputs, before: int) -> None:
        words = f"waiting for a turn: {before} of other pages first ..." if before else "solving ..."
        self._publish(inputs, "waiting", words)

    def _is_stale(self, inputs: Inputs | None) -> bool:
        return self._ended or self._newest is not inputs

    def _parts(self, line: Line, inputs: Inputs, stop: Stop) -> list[Part]:
        if line == "quick":
            return [("limit", lambda: coarse_limit(inputs, stop)), ("theory", lambda: theory_of(inputs))]
        runs: Part = ("runs", lambda: runs_of(inputs, stop))
        fine: Part = ("limit", lambda: fine_limit(inputs, stop))
        trade_off: Part = ("trade_off", lambda: trade_off_of(inputs))
        # What is there sooner comes first, and errors before the rest: they are what most look at. What compiles comes
        # last, as it cannot stop when a slider is moved.
        both = [trade_off, fine] if has_trade_off(inputs) else [fine, trade_off]
        parts = [runs, *both] if has_runs_compiled(inputs) else [*both, runs]
        return [*parts, ("done", lambda: None)]
