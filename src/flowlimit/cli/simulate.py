"""`flowlimit simulate`: a finite-size experiment from flags."""

from pathlib import Path
from typing import Annotated

import typer

from .problem import check_new, make_training

Option = typer.Option


def simulate(
    init_scale: Annotated[list[float], Option(help="Init scale alpha; give it again for more models.")] = [0.3],  # noqa: B006
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
    dim: Annotated[int, Option(help="Number of coordinates.")] = 1000,
    trials: Annotated[int, Option(help="Independent repetitions.")] = 10,
    key: Annotated[int, Option(help="Random key.")] = 0,
    plot: Annotated[Path | None, Option(help="Write a picture (.png or .pdf).")] = None,
    out: Annotated[
        Path | None, Option(help="Write a zarr store; with several models, one a model in this folder.")
    ] = None,
) -> None:
    """Train diagonal linear networks on finite data and print their errors in time."""
    import flowlimit as fl

    models = [fl.DiagonalLinear(init_scale=scale, weight_decay=weight_decay, depth=depth) for scale in init_scale]
    task = fl.Regression(aspect_ratio=aspect_ratio, noise_var=noise_var, target=fl.Bernoulli(sparsity))
    training = make_training(horizon, step_size, num_steps)
    check_new(out)
    results = fl.simulate(models, task, training, dim=dim, trials=trials, key=key, progress=True, throw=False)
    for result in results:
        typer.echo(f"{result}\n")
    if out is not None:
        for index, result in enumerate(results):
            fl.save(result, out if len(results) == 1 else out / f"{index}.zarr")
        typer.echo(f"wrote {out}")
    if plot is not None:
        import matplotlib as mpl

        mpl.use("agg")
        fl.plot.curves(results)[0].figure.savefig(plot, dpi=200)
        typer.echo(f"wrote {plot}")
    for result in results:
        result.result.raise_if_failed()
