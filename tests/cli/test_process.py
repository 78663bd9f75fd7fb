"""How the command's process ends: early, but not before all is written and everyone has been told."""

import subprocess
import sys

import pytest

from flowlimit.cli.failures import FAILED

HEAD = """
import atexit, sys, threading, time
from flowlimit.cli import app, process

class Kept:
    def __del__(self):
        print("taken apart")
"""


def ended(body):
    """Run a process in whose place of a command stands this body."""
    code = f"{HEAD}\ndef main():\n    {body}\n\napp.main = main\nprocess.run()"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("pass", 0),
        ("raise SystemExit", 0),
        ("raise SystemExit(3)", 3),
        ("raise SystemExit('no')", 1),
        ("raise ValueError('no')", 1),
    ],
)
def test_the_code_is_that_of_the_command(body, code):
    done = ended(body)
    assert done.returncode == code
    assert ("no" in done.stderr) == ("no" in body)


def test_others_are_told_and_threads_waited_for():
    later = "lambda: (time.sleep(0.2), print('from a thread'))"
    done = ended(f"atexit.register(print, 'told'); threading.Thread(target={later}).start(); print('x' * 100_000)")
    assert done.stdout.split() == ["x" * 100_000, "from", "a", "thread", "told"]


def test_objects_are_not_taken_apart():
    """That is what takes long once jax is loaded."""
    assert "taken apart" not in ended("sys.kept = Kept()").stdout


def test_streams_that_are_closed_or_missing_do_not_matter():
    assert ended("sys.stdout = None").returncode == 0
    assert ended("sys.stdout.close()").returncode == 0


def test_what_cannot_be_written_is_a_failure():
    """Not 1, by which `flowlimit check` says that limit and runs disagree."""
    assert ended("sys.stdout = open('/dev/full', 'w'); print('x')").returncode == FAILED
