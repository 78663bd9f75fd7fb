"""`flowlimit estimate`: the test error of a training on a user's table, from that training alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from .grammar import Option, Problem, takes_problem
from .output import Json, Out, Picture, check_outputs, give_record
from .reads import ACCURACY, PROBLEM

Table = Annotated[Path, typer.Argument(help="A table: .csv with a line of names, .npz with X, or .parquet.")]
Target = Annotated[str, Option("--target", help="Column to predict (y).", rich_help_panel=PROBLEM)]
Raw = Annotated[bool, Option("--raw", help="Do not centre and scale columns and target.", rich_help_panel=PROBLEM)]
Probes = Annotated[int, Option("--probes", help="Random directions of the traces (8).", rich_help_panel=ACCURACY)]


@takes_problem("estimate")
def estimate(
    problem: Problem,
    data: Table,
    target: Target = "y",
    raw: Raw = False,
    probes: Probes = 8,
    plot: Picture = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Train on a table of yours, and print its test error in time, estimated without test data, and when to stop."""
    import flowlimit as fl

    check_outputs(out, plot)
    prepared = prepared_table(data, target, raw)
    options: dict[str, Any] = {"probes": probes, "key": problem.key, "throw": False}
    with said_strains():
        found = fl.estimate_test_error(problem.model, prepared.dataset, problem.training, **options)
    if not as_json:
        typer.echo(repr(prepared))
    give_record(found, as_json=as_json, out=out, plot=plot)


def prepared_table(path: Path, target: str, raw: bool) -> Any:
    """Return a table from a file, made ready for training."""
    import flowlimit as fl
    from flowlimit.data.tables import read_table

    table = read_table(path, target)
    return fl.prepare(table.X, table.y, centre=not raw, scale=not raw)


@contextmanager
def said_strains() -> Iterator[None]:
    """Say on the terminal what strains an estimate; it is part of what is printed too."""
    import warnings

    import flowlimit as fl

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", fl.StrainWarning)
        yield
    for one in caught:
        typer.secho(f"warning: {one.message}", err=True, fg="yellow")
