"""The command's entry point: one module a verb."""

import typer

from .check import check
from .doctor import doctor
from .explore import explore
from .init import init
from .longtime import fixed_point, rate, timescales
from .paper import paper
from .simulate import simulate
from .solve import solve
from .sweep import sweep, table
from .template import template

app = typer.Typer(
    help="High-dimensional limits of learning flows, with error bars, beside the experiments that check them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rendering help with rich costs a third of the time of --help
)
app.command()(init)
app.command()(solve)
app.command()(simulate)
app.command()(check)
app.command()(fixed_point)
app.command()(rate)
app.command()(timescales)
app.command()(sweep)
app.command()(paper)
app.command()(explore)
app.command()(table)
app.command()(template)
app.command()(doctor)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True)) -> None:
    """Print the version if asked for."""
    if version:
        from flowlimit import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command; errors of the problem's making end in one line, not in a traceback."""
    try:
        app()
    except (ValueError, TypeError, FileNotFoundError, FileExistsError, RuntimeError) as error:
        typer.secho(f"error: {error}", err=True, fg="red")
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
