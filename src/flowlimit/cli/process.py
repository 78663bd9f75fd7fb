"""The command's process: it runs a command, and ends as soon as all is written and everyone has been told.

Once jax is loaded, Python takes a fifth of a second to take all objects apart before it ends. The system frees a
process's memory at once.
"""

import atexit
import os
import sys

from .failures import FAILED

RAISED = 1
"""Python's code for an exception that it prints, and for words in place of a code."""


def run() -> None:
    """Run the command of this process, and end it."""
    process = _Process()
    atexit.register(process.leave)  # the first to be registered is the last to be called
    from .app import main

    try:
        main()
        process.code = 0
    except SystemExit as ended:
        process.code = ended.code if isinstance(ended.code, int) else RAISED * (ended.code is not None)
        raise


class _Process:
    code = RAISED  # if an exception ends it, which Python prints

    def leave(self) -> None:
        """End the process, with all that was printed written."""
        for stream in (sys.stdout, sys.stderr):
            if stream is None or stream.closed:
                continue
            try:
                stream.flush()
            except OSError:  # the disk is full, or nobody reads it
                self.code = self.code or FAILED
        os._exit(self.code)


if __name__ == "__main__":
    run()
