"""`flowlimit solve-dmft`: the high-dimensional limit."""

from .grammar import Problem, takes_problem
from .output import Json, Out, Picture, check_outputs, give_record


@takes_problem("solve-dmft")
def solve_dmft(problem: Problem, plot: Picture = None, out: Out = None, as_json: Json = False) -> None:
    """Solve the limit n, d -> infinity and print its errors in time."""
    import flowlimit as fl

    check_outputs(out, plot)
    options = problem.options("solve_dmft")
    limit = fl.solve_dmft(*problem.nouns, **options, key=problem.key, throw=False)
    give_record(limit, as_json=as_json, out=out, plot=plot)
