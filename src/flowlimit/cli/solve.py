"""`flowlimit solve`: the high-dimensional limit."""

from typing import Annotated

from .grammar import Option, Problem, takes_problem
from .output import Json, Out, Picture, check_new, draw, end, give


@takes_problem
def solve(
    problem: Problem,
    rtol: Annotated[
        float | None, Option(help="Relative accuracy of the errors, at two standard errors (0.01).")
    ] = None,
    time_limit: Annotated[float | None, Option(help="Seconds after which the best answer so far is given.")] = None,
    plot: Picture = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Solve the limit n, d -> infinity and print its errors in time."""
    import flowlimit as fl

    check_new(out)
    options = problem.options("solve", rtol=rtol, time_limit=time_limit)
    limit = fl.solve_dmft(*problem.nouns, **options, key=problem.key, progress=not as_json, throw=False)
    give(limit, as_json=as_json, out=out)
    if limit.replicas:
        draw(limit, plot)
    end([limit.result])
