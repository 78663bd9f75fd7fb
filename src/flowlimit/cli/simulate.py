"""`flowlimit simulate`: a finite-size experiment."""

from typing import Annotated

from .grammar import Option, Problem, takes_problem
from .output import Json, Out, Picture, check_new, draw, end, give


@takes_problem
def simulate(
    problem: Problem,
    dim: Annotated[int | None, Option(help="Number of coordinates (1000).")] = None,
    trials: Annotated[int | None, Option(help="Independent repetitions (10).")] = None,
    plot: Picture = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Train on finite data and print the errors in time."""
    import flowlimit as fl

    check_new(out)
    options = problem.options("simulate", dim=dim, trials=trials)
    runs = fl.simulate(*problem.nouns, **options, key=problem.key, progress=not as_json, throw=False)
    give(runs, as_json=as_json, out=out)
    draw(runs, plot)
    end([runs.result])
