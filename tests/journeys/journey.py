"""What a new user does with a page: paste its blocks one after the other, in an environment with the wheel alone.

Each journey is a script, ``python tests/journeys/NAME.py``, run in an empty folder. It prints every block with its
seconds, and its minutes in all. Kept free of pytest and of the extras, which a new user does not have.
"""

import ast
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl

sys.path.append(str(Path(__file__).resolve().parents[1]))
from pages import CELL, INDENTED, ROOT, blocks, inside

mpl.use("agg")
PYTHON = (CELL, "python")
COMMAND = [sys.executable, "-m", "flowlimit.cli.process"]


def travel(page: str, *, first: int | None = None) -> dict[str, Any]:
    """Run the blocks of a page in order, or the first few, and return the names that they leave.

    Python blocks share one namespace; of the others, lines that call ``flowlimit`` are run as commands.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    began = time.monotonic()
    for block in [block for block in blocks((ROOT / page).read_text()) if is_run(block.language)][:first]:
        since = time.monotonic()
        if block.language in PYTHON:
            paste(inside(block), names, f"{page}:{block.line}")
        else:
            for words in commands(inside(block)):
                run(words)
        print(f"--- {page}:{block.line}: {time.monotonic() - since:.1f} s", flush=True)
    print(f"=== {page}: {(time.monotonic() - began) / 60:.1f} minutes", flush=True)
    return names


def is_run(language: str) -> bool:
    """Whether blocks of a language are pasted, into Python or into a shell."""
    return language in (*PYTHON, INDENTED, "console")


def paste(code: str, names: dict[str, Any], where: str) -> None:
    """Run a block as a notebook does: the value of its last line is shown, unless a semicolon follows it."""
    print("\n".join(f">>> {line}" for line in code.splitlines() if line.strip()), flush=True)
    body = ast.parse(code).body
    last = body[-1]
    if not isinstance(last, ast.Expr) or code.rstrip().endswith(";"):
        exec(compile(ast.Module(body, []), where, "exec"), names)
        return
    exec(compile(ast.Module(body[:-1], []), where, "exec"), names)
    value = eval(compile(ast.Expression(last.value), where, "eval"), names)
    if value is not None:
        print(value)


def commands(code: str) -> Iterator[list[str]]:
    """Yield the arguments of lines that call the command; the package itself is installed already."""
    for line in code.splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words[:1] == ["flowlimit"]:
            yield words[1:]


def run(words: list[str]) -> None:
    """Run a command and fail if it does."""
    print("$ flowlimit", *words, flush=True)
    subprocess.run([*COMMAND, *words], check=True, env=os.environ | {"MPLBACKEND": "agg"})
