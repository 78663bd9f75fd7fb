"""`flowlimit init`: a problem with comments, to change; with a table, one whose features have the table's spectrum."""

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[Path | None, typer.Option(help="A table of yours (.csv, .npz, .parquet): features get its spectrum.")]
Target = Annotated[str | None, typer.Option(help="Column of the table to predict (y).")]
Samples = Annotated[int | None, typer.Option(help="Rows to train on (all of the table's).")]


def init(
    file: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("problem.toml"),
    data: Data = None,
    target: Target = None,
    samples: Samples = None,
) -> None:
    """Write a commented problem in TOML."""
    if file.exists():
        raise FileExistsError(f"{file} exists; give another name")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"{file}: there is no folder {file.parent}; make it first")
    if data is None and (target is not None or samples is not None):
        flag = "--samples" if target is None else "--target"
        raise ValueError(f"{flag}: given without a table; needs --data, e.g. --data data.csv")
    task = TASK if data is None else task_of(data, target or "y", samples)
    model = MODEL if data is None else LINEAR
    file.write_text(TEMPLATE.format(command="flowlimit solve-dmft", name=file, task=task, model=model))
    typer.echo(f"wrote {file}; next: flowlimit solve-dmft {file} --plot limit.png, or flowlimit check {file}")


def task_of(data: Path, target: str, samples: int | None) -> str:
    """Return the table of a task with the spectrum of a user's table."""
    import flowlimit as fl
    from flowlimit.data.tables import read_table
    from flowlimit.problem.checks import integer

    table = read_table(data, target)
    law = fl.Spectrum.from_data(table.X, table.y)
    rows = integer("--samples", at_least=1, example=len(table.y))(len(table.y) if samples is None else samples)
    variances, targets = law.variances().tolist(), law.targets.tolist()
    return SPECTRUM.format(
        data=str(data).replace("\n", " "),
        aspect_ratio=rows / len(variances),
        rows=rows,
        components=len(variances),
        noise_var=max(1.0 - float(law.signal), 0.0),
        variances=_lines(variances),
        targets=_lines(targets),
    )


def _lines(numbers: list[float]) -> str:
    """Return a list in TOML, a few numbers per line."""
    words = [f"{float(number):#.8g}" for number in numbers]
    rows = [", ".join(words[i : i + 8]) for i in range(0, len(words), 8)]
    return "[\n  " + ",\n  ".join(rows) + ",\n]"


TASK = """\
[task]
kind = "Regression"
aspect_ratio = 0.5 # n/d, samples over dim
noise_var = 0.01 # of the labels

[task.target]
kind = "Bernoulli" # coordinates are 1 or 0
probability = 0.1
"""
SPECTRUM = """\
# Features with the variances of the principal components of {data}, and a teacher estimated by ridge regression.
# Assumed: components are independent, not only uncorrelated; the table stands for new rows, so that it has many more
# than are trained on; the target is linear in the features, with noise of one size. The target has variance 1.
[task]
kind = "Regression"
aspect_ratio = {aspect_ratio!r} # {rows} rows over {components} components
noise_var = {noise_var:.6g} # what the teacher leaves of the target

[task.features]
kind = "Spectrum"
variances = {variances}
targets = {targets}
"""
MODEL = """\
[model]
kind = "DiagonalLinear" # or Linear; a class of your own as "module:Class", with imports = ["module"] at the top
init_scale = 0.3 # alpha: both layers start at this value
weight_decay = 0.0 # lambda
"""
LINEAR = """\
[model]
kind = "Linear" # or DiagonalLinear, on the components, with init_scale = 0.3
weight_decay = 0.0 # lambda
"""
TEMPLATE = """\
# A problem for flowlimit: {command} {name}
# Every table may be left out; flags of a command come before what stands here.

{model}
{task}
[training]
kind = "GradientFlow"
horizon = 20.0
# kind = "GradientDescent"
# step_size = 0.1
# num_steps = 200

[solve_dmft] # the limit
rtol = 0.01 # relative accuracy of the errors, at two standard errors
# time_limit = 60.0 # seconds

[simulate] # runs at finite size
dim = 1000
trials = 10
# draws = "independent" # plain draws; balanced ones have exactly their law's composition

[check] # the limit against runs at two sizes
dims = [200, 800]
trials = 20
"""
