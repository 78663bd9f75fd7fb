"""`flowlimit estimate`: the test error of a training on a user's table, from that training alone."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .grammar import Option, Problem, takes_problem
from .output import Json, OutNumbers, Picture, check_outputs, give_record
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
    out: OutNumbers = None,
    as_json: Json = False,
) -> None:
    """Train on a table of yours, and print its test error in time, estimated without test data, and when to stop."""
    import flowlimit as fl

    check_outputs(out, plot, in_time=False)
    prepared = _prepared(data, target, raw)
    found = _estimated(fl, problem, prepared, probes)
    if not as_json:
        typer.echo(repr(prepared))
    give_record(found, as_json=as_json, out=out, plot=plot)


def _prepared(path: Path, target: str, raw: bool) -> Any:
    import flowlimit as fl
    from flowlimit.data.tables import read_table

    table = read_table(path, target)
    return fl.prepare(table.X, table.y, centre=not raw, scale=not raw)


def _estimated(fl: Any, problem: Problem, prepared: Any, probes: int) -> Any:
    """Return the estimate; what strains it is part of what is printed, and said on the terminal."""
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", fl.StrainWarning)
        found = fl.estimate_test_error(
            problem.model, prepared.dataset, problem.training, probes=probes, key=problem.key, throw=False
        )
    for one in caught:
        typer.secho(f"warning: {one.message}", err=True, fg="yellow")
    return found
