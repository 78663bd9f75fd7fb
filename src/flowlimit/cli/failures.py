"""How a command ends when something is wrong: one line and an exit code; where it happened is told on request."""

import os
import sys

DISAGREES, WRONG, NOT_MET, FAILED, INTERRUPTED = 1, 2, 3, 4, 130
"""Exit codes: a claim does not hold, wrong input, an answer less accurate than asked for, no answer, and Ctrl-C."""
EXIT_CODES = (
    "Exit codes: 0 done; 1 check, paper: they disagree; 2 wrong input; 3 an answer, but less accurate than asked for; "
    "4 no answer; 130 stopped by Ctrl-C, with what there is by then written to --out."
)
OUT_OF_MEMORY = "RESOURCE_EXHAUSTED"
"""What XLA calls it."""


def wants_traceback() -> bool:
    """Whether the user asked to see where an error was raised."""
    return "--traceback" in sys.argv[1:] or os.environ.get("FLOWLIMIT_TRACEBACK", "0") not in ("", "0")


def explain(error: Exception) -> tuple[str, int]:
    """Return one line about an error, and the exit code that goes with it."""
    from flowlimit.results import FlowlimitError

    text = " ".join(str(error).split())
    if isinstance(error, MemoryError) or OUT_OF_MEMORY in text:
        return f"no answer: there was not enough memory; take a smaller problem. {text}".rstrip(), FAILED
    if isinstance(error, FlowlimitError):
        return f"no answer: {text}", FAILED
    ours = isinstance(error, ValueError | TypeError | OSError | RuntimeError) and not isinstance(error, RecursionError)
    if ours and text:
        return f"error: {text}", WRONG
    return f"error: {type(error).__name__}: {text}; flowlimit --traceback, then the command, shows where", WRONG
