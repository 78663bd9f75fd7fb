"""The command inside this process: a process of its own costs seconds."""

import contextlib
import io
import sys
from typing import NamedTuple
from unittest import mock

from flowlimit.cli.app import main


class Done(NamedTuple):
    """What a command left behind, by the names that `subprocess.run` uses."""

    returncode: int
    stdout: str
    stderr: str


def flowlimit(*words):
    """Run a command as from a shell; whatever it does not turn into an exit code is raised."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["flowlimit", *map(str, words)]),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
    return Done(code, out.getvalue(), err.getvalue())


def refused(*words):
    """Return the one line with which a command refuses its input."""
    done = flowlimit(*words)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stdout == ""
    *usage, line = done.stderr.strip().splitlines()
    assert len(usage) in (0, 2, 3), done.stderr  # typer prints two or three lines of usage before its own errors
    return line
