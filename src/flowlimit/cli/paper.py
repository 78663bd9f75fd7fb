"""`flowlimit paper`: every figure and table of the paper, made anew and judged."""

from pathlib import Path
from typing import Annotated

import typer

from .grammar import Option
from .reads import DRAWS

Labels = Annotated[list[str] | None, typer.Argument(help="Figures by label, e.g. fig:fixedpoint; all if none.")]


def paper(
    labels: Labels = None,
    show: Annotated[bool, Option("--list", help="List the labels and what they show.")] = False,
    quick: Annotated[bool, Option(help="Small sizes: minutes, with error bars to match.")] = False,
    expression: Annotated[
        Path | None, Option(help="The UCI gene expression archive, in place of the data of the extra.")
    ] = None,
    out: Annotated[Path, Option(help="Folder of pictures, verdicts, experiments; these are kept.")] = Path("paper"),
    draws: Annotated[str, Option(help=f"{DRAWS} The paper's are independent.")] = "balanced",
    workers: Annotated[int | None, Option(help="Processes on this machine.")] = None,
) -> None:
    """Reproduce the paper and judge each of its claims; stopped, the same command goes on."""
    if show:
        _list()
        return
    from flowlimit.paper import reproduce

    from .sweep import open_executor, resumable

    with open_executor(workers, None) as executor, resumable(f"experiments in {out} are kept"):
        entries = reproduce(
            labels or (),
            out=out,
            quick=quick,
            expression=None if expression is None else str(expression),
            executor=executor,
            draws=draws,
        )
    for entry in entries:
        typer.echo(f"{entry.label}: {entry.seconds:.0f} s, {out / entry.file if entry.file else 'no picture'}")
        for verdict in entry.verdicts:
            typer.echo(f"  {'holds' if verdict.holds else 'DOES NOT HOLD'}: {verdict.claim}; {verdict}")
    typer.echo(f"wrote {out / 'summary.md'} and {out / 'summary.json'}")
    if not all(entry.holds for entry in entries):
        raise typer.Exit(1)


def _list() -> None:
    from flowlimit.paper.book import BOOK

    for figure in BOOK:
        typer.echo(f"{figure.label}: {figure.shows}")
        for part in figure.parts:
            typer.echo(f"  {part}")
