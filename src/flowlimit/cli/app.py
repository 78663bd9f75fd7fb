"""The command's entry point: one module per verb."""

import typer

from .check import check
from .doctor import doctor
from .explore import explore
from .failures import EXIT_CODES, explain, wants_traceback
from .init import init
from .longtime import convergence_rate, fixed_point, timescales
from .meant import Command, Group
from .paper import paper
from .simulate import simulate
from .solve_dmft import solve_dmft
from .sweep import sweep, table
from .template import template

app = typer.Typer(
    cls=Group,
    help="High-dimensional limits of learning flows, with error bars, beside the experiments that check them.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rendering help with rich costs a third of the time of --help
)
app.command(cls=Command)(init)
app.command(cls=Command)(solve_dmft)
app.command(cls=Command)(simulate)
app.command(cls=Command)(check)
app.command(cls=Command)(fixed_point)
app.command(cls=Command)(convergence_rate)
app.command(cls=Command)(timescales)
app.command(cls=Command)(sweep)
app.command(cls=Command)(paper)
app.command(cls=Command)(explore)
app.command(cls=Command)(table)
app.command(cls=Command)(template)
app.command(cls=Command)(doctor)


@app.callback(invoke_without_command=True)
def root(
    version: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
    traceback: bool = typer.Option(
        False, "--traceback", help="Show where an error was raised; FLOWLIMIT_TRACEBACK=1 does so too."
    ),  # read by wants_traceback
) -> None:
    """Print the version if asked for."""
    if version:
        from flowlimit import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command; what goes wrong ends in one line and an exit code, in a traceback only if that is asked for."""
    try:
        app()
    except Exception as error:  # whatever it is, a person reads it
        if wants_traceback():
            raise
        message, code = explain(error)
        typer.secho(message, err=True, fg="red")
        raise SystemExit(code) from None


if __name__ == "__main__":
    main()
