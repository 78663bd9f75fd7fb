"""`flowlimit simulate`: a finite-size experiment from flags."""

from pathlib import Path
from typing import Annotated

import typer

from .problem import (
    AspectRatio,
    BatchFraction,
    Depth,
    Horizon,
    Key,
    LabelNoise,
    Momentum,
    Nesterov,
    NoiseVar,
    NumSteps,
    Option,
    Picture,
    Sparsity,
    Steps,
    StepSize,
    Temperature,
    WeightDecay,
    check_new,
    make_task,
    make_training,
)


def simulate(
    init_scale: Annotated[list[float], Option(help="Init scale alpha; give it again for more models.")] = [0.3],  # noqa: B006
    weight_decay: WeightDecay = 0.0,
    depth: Depth = 2,
    aspect_ratio: AspectRatio = 0.5,
    noise_var: NoiseVar = 0.01,
    sparsity: Sparsity = 0.1,
    horizon: Horizon = None,
    step_size: StepSize = None,
    num_steps: NumSteps = None,
    momentum: Momentum = 0.0,
    nesterov: Nesterov = False,
    batch_fraction: BatchFraction = None,
    label_noise: LabelNoise = 0.0,
    temperature: Temperature = None,
    dim: Annotated[int, Option(help="Number of coordinates.")] = 1000,
    trials: Annotated[int, Option(help="Independent repetitions.")] = 10,
    key: Key = 0,
    plot: Picture = None,
    out: Annotated[
        Path | None, Option(help="Write a zarr store; with several models, one a model in this folder.")
    ] = None,
) -> None:
    """Train diagonal linear networks on finite data and print their errors in time."""
    import flowlimit as fl

    models = [fl.DiagonalLinear(init_scale=scale, weight_decay=weight_decay, depth=depth) for scale in init_scale]
    task = make_task(aspect_ratio, noise_var, sparsity)
    training = make_training(
        horizon, step_size, num_steps, Steps(momentum, nesterov, batch_fraction, label_noise, temperature)
    )
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
