"""`flowlimit select`: which of several models to train on a user's table, and when to stop."""

import itertools
from typing import Annotated, Any

import typer

from .axes import parse_axes
from .estimate import Raw, Table, Target, prepared_table, said_strains
from .grammar import NOUNS, Option, Problem, at_address, takes_problem
from .output import Json, Out, Picture, check_outputs, draw, end, give, say_unwritten
from .reads import ACCURACY, FLAGS, PROBLEM, as_typed, overlap

Over = Annotated[
    list[str],
    Option(
        "--over",
        help="Numbers of the model to choose from: model.init_scale=0.1,0.3,1 or model.weight_decay=log:.001:.1:5.",
        rich_help_panel=PROBLEM,
    ),
]
MoreProbes = Annotated[int, Option("--probes", help="Random directions of the traces (32).", rich_help_panel=ACCURACY)]
MOST = 1000
"""Most models of one selection."""


@takes_problem("select")
def select(
    problem: Problem,
    data: Table,
    over: Over,
    target: Target = "y",
    raw: Raw = False,
    probes: MoreProbes = 32,
    plot: Picture = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Train several models on a table of yours, and print which to take and when to stop, without test data."""
    import flowlimit as fl

    check_outputs(out, plot)
    models = models_over(problem, over)
    prepared = prepared_table(data, target, raw)
    options: dict[str, Any] = {"probes": probes, "key": problem.key, "throw": False}
    with said_strains():
        found = fl.select(models, prepared.dataset, problem.training, **options)
    if found.choice is None:
        say_unwritten(out, plot)
        end(found.result, answered=False)
    if not as_json:
        typer.echo(repr(prepared))
    give(found, as_json=as_json, out=out)
    draw(found, plot, picture="selection")
    end(found.result)


def models_over(problem: Problem, over: list[str]) -> list[Any]:
    """Return the models of all combinations of the axes, or refuse what is no number of a model."""
    axes = parse_axes(over)
    for address in axes:
        if not address.startswith("model."):
            raise ValueError(f"--over {address}: given, but select compares models; needs e.g. model.init_scale=0.1,1")
        for name in problem.flags:
            if overlap(FLAGS[name].address, address):
                raise ValueError(f"--over {address}: given beside {as_typed(name)}, which it overrides; leave it out")
    points = list(itertools.product(*axes.values()))
    if len(points) > MOST:
        raise ValueError(f"--over: given {len(points)} models, needs at most {MOST}; take fewer values")
    models = []
    for point in points:
        nouns: Any = dict(zip(NOUNS, problem.nouns, strict=True))
        for address, value in zip(axes, point, strict=True):
            nouns = at_address(nouns, address, value, "--over")
        models.append(nouns["model"])
    return models
