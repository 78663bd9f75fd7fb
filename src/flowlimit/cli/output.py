"""What a command leaves behind: text or JSON on the terminal, a picture, a file, an exit code."""

import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

import typer

from .failures import FAILED, INTERRUPTED, NOT_MET
from .reads import OUTPUT

Option = typer.Option
Picture = Annotated[Path | None, Option("--plot", help="Write a picture (.png, .pdf or .svg).", rich_help_panel=OUTPUT)]
Out = Annotated[
    Path | None, Option("--out", help="Write the numbers: .zarr, .nc, .csv or .json.", rich_help_panel=OUTPUT)
]
OutNumbers = Annotated[
    Path | None, Option("--out", help="Write the numbers: .nc, .csv or .json.", rich_help_panel=OUTPUT)
]
Json = Annotated[bool, Option("--json", help="Print JSON for machines in place of text.", rich_help_panel=OUTPUT)]
PICTURES = (".png", ".pdf", ".svg")
NUMBERS = (".nc", ".csv", ".json")
ENDINGS = (".zarr", *NUMBERS)


def check_outputs(out: Path | None = None, plot: Path | None = None, *, in_time: bool = True) -> None:
    """Refuse paths that exist or cannot be written, before the work and not after it."""
    _check_new("--out", out, ENDINGS if in_time else NUMBERS)
    _check_new("--plot", plot, PICTURES)


def _check_new(flag: str, path: Path | None, endings: Collection[str]) -> None:
    if path is None:
        return
    if path.suffix not in endings:
        raise ValueError(f"{flag}: given {path}, needs a name that ends in {', '.join(endings)}")
    if path.exists():
        raise FileExistsError(f"{flag}: {path} exists; give another path")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{flag}: given {path}, but there is no folder {path.parent}; make it first")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"{flag}: given {path}, but {path.parent} may not be written to; give another folder")


def give(result: Any, *, as_json: bool, out: Path | None = None, text: str | None = None) -> None:
    """Print a result, and write it if a path is given."""
    if as_json:
        from flowlimit.verbs.export import plain

        typer.echo(json.dumps(plain(result), indent=1))
    else:
        typer.echo(text if text is not None else f"{result}")
    if out is not None:
        import flowlimit as fl

        fl.save(result, out)
        typer.echo(f"wrote {out}", err=as_json)


def give_record(record: Any, *, as_json: bool, out: Path | None, plot: Path | None) -> None:
    """Print, write and draw a limit or runs, and end with the exit code of their outcome."""
    from flowlimit.verbs.check import has_curves

    if has_curves(record):
        give(record, as_json=as_json, out=out)
        draw(record, plot)
    else:
        if as_json:
            give(record, as_json=True)
        say_unwritten(out, plot)
    end(record.result, answered=has_curves(record))


def say_unwritten(*paths: Path | None) -> None:
    """Say which files there are not, since there is no answer."""
    for path in paths:
        if path is not None:
            typer.echo(f"{path} was not written: there is no answer", err=True)


def draw(results: Any, plot: Path | None, *, picture: str = "curves") -> None:
    """Draw results, if a path is given; ``picture`` is the name of a function of `flowlimit.plot`."""
    if plot is None:
        return
    import matplotlib as mpl

    import flowlimit as fl

    mpl.use("agg")
    getattr(fl.plot, picture)(results)[0].figure.savefig(plot, dpi=200)
    typer.echo(f"wrote {plot}", err=True)


def end(outcome: Any, *, answered: bool = True) -> None:
    """End with an exit code that says how it ended; the message goes to the terminal."""
    from flowlimit.results import Code
    from flowlimit.results.outcome import FAILURES

    if outcome.code is Code.SUCCESSFUL and answered:
        return
    answered = answered and outcome.code not in FAILURES
    said = f"{outcome.code}: {outcome.message}"
    typer.secho(said if answered else f"no answer: {said}", err=True, fg="red")
    if outcome.code is Code.STOPPED:
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(NOT_MET if answered else FAILED)
