"""`flowlimit check`: how far a limit can be trusted."""

from typing import Annotated

import typer

from .grammar import Option, Problem, takes_problem
from .output import Json, Picture, draw, end, give


@takes_problem
def check(
    problem: Problem,
    dims: Annotated[list[int] | None, Option("--dim", help="Sizes of the runs; give it twice (200 and 800).")] = None,
    trials: Annotated[int | None, Option(help="Independent repetitions (20).")] = None,
    rtol: Annotated[float | None, Option(help="Relative accuracy of the limit (0.01).")] = None,
    time_limit: Annotated[float | None, Option(help="Seconds for the limit.")] = None,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Solve, train at two sizes, and print deviations in standard errors with a verdict; exit 1 if they disagree."""
    import flowlimit as fl

    options = problem.options("solve", rtol=rtol, time_limit=time_limit)
    options |= problem.options("check", dims=dims, trials=trials)
    trust = fl.check(*problem.nouns, **options, key=problem.key, progress=not as_json)
    worst = [comparison.worst for comparison in trust.comparisons]
    numbers = {"passed": trust.passed, "dims": trust.dims, "standard_errors": [size for _, _, size in worst]}
    give(numbers, as_json=as_json, text=f"{trust}")
    draw([trust.limit, *trust.runs], plot)
    if not trust.passed:
        raise typer.Exit(1)
    end([trust.outcome])
