"""`flowlimit init`: a problem with comments, to change."""

from pathlib import Path
from typing import Annotated

import typer


def init(
    file: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("problem.toml"),
) -> None:
    """Write a commented problem in TOML."""
    if file.exists():
        raise FileExistsError(f"{file} exists; give another name")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"{file}: there is no folder {file.parent}; make it first")
    file.write_text(TEMPLATE.format(command="flowlimit solve-dmft", name=file))
    typer.echo(f"wrote {file}; next: flowlimit solve-dmft {file} --plot limit.png, or flowlimit check {file}")


TEMPLATE = """\
# A problem for flowlimit: {command} {name}
# Every table may be left out; flags of a command come before what stands here.

[model]
kind = "DiagonalLinear" # or Linear; a class of your own as "module:Class", with imports = ["module"] at the top
init_scale = 0.3 # alpha: both layers start at this value
weight_decay = 0.0 # lambda

[task]
kind = "Regression"
aspect_ratio = 0.5 # n/d, samples over dim
noise_var = 0.01 # of the labels

[task.target]
kind = "Bernoulli" # coordinates are 1 or 0
probability = 0.1

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
