"""`flowlimit check`: how far a limit can be trusted."""

from typing import Annotated

import typer

from .failures import DISAGREES
from .grammar import Option, Problem, takes_problem
from .output import Json, Picture, check_outputs, draw, end, give, say_unwritten
from .reads import ACCURACY, DRAWS


@takes_problem("check")
def check(
    problem: Problem,
    dims: Annotated[
        list[int] | None,
        Option("--dims", help="Sizes of the runs; give it twice (200 and 800).", rich_help_panel=ACCURACY),
    ] = None,
    trials: Annotated[int | None, Option(help="Independent repetitions (20).", rich_help_panel=ACCURACY)] = None,
    draws: Annotated[str | None, Option(help=DRAWS, rich_help_panel=ACCURACY)] = None,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Solve, train at two sizes, and print deviations in standard errors with a verdict; exit 1 if they disagree."""
    import flowlimit as fl

    check_outputs(plot=plot)
    options = problem.options("solve_dmft") | problem.options("check", dims=dims or None, trials=trials, draws=draws)
    trust = fl.check(*problem.nouns, **options, key=problem.key)
    worst = [comparison.worst[2] for comparison in trust.comparisons]
    numbers = {"passed": trust.passed, "dims": trust.dims, "standard_errors": worst}
    give(numbers | {"result": str(trust.outcome.code)}, as_json=as_json, text=f"{trust}")
    if trust.comparisons:
        draw([trust.limit, *trust.runs], plot)
    else:
        say_unwritten(plot)
    if trust.failed:
        end(trust.outcome, answered=False)
    if not trust.passed:
        raise typer.Exit(DISAGREES)
    end(trust.outcome)
