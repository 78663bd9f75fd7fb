"""`flowlimit simulate`: a finite-size experiment."""

from .grammar import Problem, takes_problem
from .output import Json, Out, Picture, check_outputs, give_record


@takes_problem("simulate")
def simulate(problem: Problem, plot: Picture = None, out: Out = None, as_json: Json = False) -> None:
    """Train on finite data and print the errors in time."""
    import flowlimit as fl

    check_outputs(out, plot)
    options = problem.options("simulate")
    runs = fl.simulate(*problem.nouns, **options, key=problem.key, throw=False)
    give_record(runs, as_json=as_json, out=out, plot=plot)
