"""`flowlimit solve`: the high-dimensional limit from flags."""

from pathlib import Path
from typing import Annotated

import typer

from .problem import check_new, make_training

Option = typer.Option


def solve(
    init_scale: Annotated[float, Option(help="Init scale alpha.")] = 0.3,
    weight_decay: Annotated[float, Option(help="Weight decay lambda.")] = 0.0,
    depth: Annotated[int, Option(help="Depth of the diagonal network.")] = 2,
    aspect_ratio: Annotated[float, Option(help="Samples over dim.")] = 0.5,
    noise_var: Annotated[float, Option(help="Variance of the label noise.")] = 0.01,
    sparsity: Annotated[float, Option(help="Probability that a target coordinate is 1, else 0.")] = 0.1,
    horizon: Annotated[
        float | None, Option(help="Train by gradient flow up to this time (20 if no step size).")
    ] = None,
    step_size: Annotated[float | None, Option(help="Train by gradient descent with this step size.")] = None,
    num_steps: Annotated[int | None, Option(help="Number of steps of gradient descent.")] = None,
    rtol: Annotated[float, Option(help="Relative accuracy of the errors, at two standard errors.")] = 1e-2,
    key: Annotated[int, Option(help="Random key.")] = 0,
    time_limit: Annotated[float | None, Option(help="Seconds after which the best answer so far is given.")] = None,
    plot: Annotated[Path | None, Option(help="Write a picture (.png or .pdf).")] = None,
    out: Annotated[Path | None, Option(help="Write a zarr store.")] = None,
) -> None:
    """Solve the limit n, d -> infinity of a diagonal linear network and print its errors in time."""
    import flowlimit as fl

    model = fl.DiagonalLinear(init_scale=init_scale, weight_decay=weight_decay, depth=depth)
    task = fl.Regression(aspect_ratio=aspect_ratio, noise_var=noise_var, target=fl.Bernoulli(sparsity))
    training = make_training(horizon, step_size, num_steps)
    check_new(out)
    options = {"rtol": rtol, "key": key, "time_limit": time_limit}
    limit = fl.solve_dmft(model, task, training, **options, progress=True, throw=False)
    typer.echo(f"{limit}")
    if out is not None:
        fl.save(limit, out)
        typer.echo(f"wrote {out}")
    if plot is not None and limit.replicas:
        import matplotlib as mpl

        mpl.use("agg")
        fl.plot.curves(limit)[0].figure.savefig(plot, dpi=200)
        typer.echo(f"wrote {plot}")
    limit.result.raise_if_failed()
