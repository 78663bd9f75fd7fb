"""The command's entry point: one module per verb."""

import gc
from collections.abc import Callable

import typer

from flowlimit.program_cache import keep_programs

from .check import check
from .doctor import doctor
from .estimate import estimate
from .explore import explore
from .failures import EXIT_CODES, explain, wants_traceback
from .init import init
from .longtime import convergence_rate, fixed_point, timescales
from .meant import Command, Group
from .paper import paper
from .select import select
from .simulate import simulate
from .solve_dmft import solve_dmft
from .sweep import sweep, table
from .template import template
from .warm import warm

GARBAGE = 100_000
"""Objects between two searches for garbage: loading jax makes half a million, and takes a tenth longer if searched."""
WIDTH = 120
"""Most columns that help takes of a terminal."""
app = typer.Typer(
    cls=Group,
    help="High-dimensional limits of learning flows, with error bars, beside the experiments that check them.\n\n"
    "flowlimit COMMAND --help shows what a command takes.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    context_settings={"max_content_width": WIDTH},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rendering help with rich costs a third of the time of --help
)
COMMANDS: dict[str, dict[Callable[..., None], str]] = {
    "Try it": {
        init: "Write a commented problem file, to change and to solve.",
        explore: "Move sliders in a browser and watch the curves follow.",
        doctor: "Show what is installed, what works and what is missing.",
    },
    "Compute": {
        solve_dmft: "Solve the limit of infinite size: its errors in time.",
        simulate: "Train on finite data: the errors in time.",
        check: "Do both, and say whether limit and runs agree.",
        estimate: "The test error of a training on your own table.",
        select: "Which model to train on your own table, and when to stop.",
    },
    "Closed forms": {
        fixed_point: "Where gradient flow ends: its errors for t -> infinity.",
        convergence_rate: "How fast gradient flow gets there.",
        timescales: "When the phases of training come on the way.",
    },
    "Many problems": {
        sweep: "The limit, runs or a closed form at many points.",
        table: "Show what a sweep has computed so far.",
        template: "Print a job file for a cluster: Slurm or Kubernetes.",
        warm: "Compile beforehand: later calls do not wait.",
    },
    "The paper": {paper: "Make its figures anew and judge each of its claims."},
}
"""What a person wants -> the commands for it, each with its line in ``flowlimit --help``; a newcomer's order."""
for wish, commands in COMMANDS.items():
    for command, line in commands.items():
        app.command(cls=Command, rich_help_panel=wish, short_help=line)(command)


@app.callback(invoke_without_command=True)
def root(
    version: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
    traceback: bool = typer.Option(
        False, "--traceback", help="Show where an error was raised; FLOWLIMIT_TRACEBACK=1 does so too."
    ),  # read by wants_traceback
    allow_imports: bool = typer.Option(
        False, "--allow-imports", help="Let a problem file import your modules, which runs their code."
    ),  # read by allows_imports
) -> None:
    """Print the version if asked for."""
    if version:
        from flowlimit import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command; what goes wrong ends in one line and an exit code, in a traceback only if that is asked for."""
    gc.set_threshold(GARBAGE)
    keep_programs()
    try:
        app()
    except Exception as error:  # whatever it is, a person reads it
        if wants_traceback():
            raise
        message, code = explain(error)
        typer.secho(message, err=True, fg="red")
        raise SystemExit(code) from None
