"""What happened: a code that programs can test and a message that people can read."""

import enum
from dataclasses import dataclass


class FlowlimitError(RuntimeError):
    """Raised when a verb with ``throw=True`` could not do what was asked."""


class Code(enum.StrEnum):
    """Outcome codes. ``throw=True`` raises on those in ``FAILURES``; a stop asked for by the caller is no failure."""

    SUCCESSFUL = "successful"
    STOPPED = "stopped"
    DIVERGED = "diverged"
    STEP_LIMIT = "step limit"
    TOLERANCE = "tolerance not met"
    TIMEOUT = "timeout"
    NO_ANSWER = "no answer"
    MEMORY = "memory"
    FAILED = "failed"


FAILURES = frozenset({Code.DIVERGED, Code.STEP_LIMIT, Code.NO_ANSWER, Code.MEMORY, Code.FAILED})


@dataclass(frozen=True)
class Outcome:
    """A code and its message; the message is empty on success.

    Examples
    --------
    >>> Outcome().code
    <Code.SUCCESSFUL: 'successful'>
    >>> Outcome(Code.STOPPED, "stopped on request after 3 of 10 trials")
    Outcome(stopped: stopped on request after 3 of 10 trials)
    """

    code: Code = Code.SUCCESSFUL
    message: str = ""

    def raise_if_failed(self) -> None:
        """Raise `FlowlimitError` with the message if the code is a failure."""
        if self.code in FAILURES:
            raise FlowlimitError(f"{self.code}: {self.message}")

    def __repr__(self) -> str:
        return f"Outcome({self.code}{': ' + self.message if self.message else ''})"
