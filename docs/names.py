"""The table of all public names, in Python and in the shell, written before the pages are read."""

import inspect
from pathlib import Path

import typer

import flowlimit as fl
from flowlimit.cli.app import app as command

PAGE = Path(__file__).parent / "api/names.md"
HEAD = "# All names\n\nEvery public name with its meaning; in Python after `import flowlimit as fl`.\n\n"


def write_names(_app):
    """Write the page from the first lines of docstrings and of commands' help."""
    PAGE.write_text(HEAD + table("in Python", python()) + "\n" + table("in the shell", shell()))


def python():
    """Yield each public name of the package, linked to its page, and the first line of its docstring."""
    for name in sorted(fl.__all__, key=str.lower):
        if not name.startswith("_") and name != "plot":
            yield f"{{py:obj}}`fl.{name} <flowlimit.{name}>`", getattr(fl, name)
    for name in fl.plot.__all__:
        yield f"{{py:obj}}`fl.plot.{name} <flowlimit.plot.{name}>`", getattr(fl.plot, name)


def shell():
    """Yield each command and the function that it calls."""
    for name, own in sorted(typer.main.get_command(command).commands.items()):
        yield f"`flowlimit {name}`", own


def table(head, rows):
    """Return a table of two columns."""
    lines = [f"| {name} | {meaning(public)} |\n" for name, public in rows]
    return f"| {head} | meaning |\n|---|---|\n" + "".join(lines)


def meaning(public):
    """Return the first paragraph of a docstring or a help on one line."""
    said = getattr(public, "help", None) or inspect.getdoc(public)
    return " ".join(said.split("\n\n")[0].split()).replace("|", "\\|")
