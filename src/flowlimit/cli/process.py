"""The command's process: it runs a command, and ends as soon as all is written and everyone has been told.

Once jax is loaded, Python takes a fifth of a second to take all objects apart before it ends. The system frees a
process's memory at once.
"""

import atexit
import os
import sys

FAILED = 1


def run() -> None:
    """Run the command of this process, and end it."""
    process = _Process()
    atexit.register(process.leave)  # the first to be registered is the last to be called
    from .app import main

    try:
        main()
        process.code = 0
    except SystemExit as ended:
        process.code = ended.code if isinstance(ended.code, int) else FAILED * (ended.code is not None)
        raise


class _Process:
    code = FAILED  # if an exception ends it, which Python prints

    def leave(self) -> None:
        """End the process, with all that was printed written."""
        for stream in filter(None, (sys.stdout, sys.stderr)):
            try:
                stream.flush()
            except (OSError, ValueError):  # the disk is full, nobody reads it, or it is closed
                self.code = self.code or FAILED
        os._exit(self.code)


if __name__ == "__main__":
    run()
