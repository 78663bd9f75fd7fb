"""`flowlimit solve`: the high-dimensional limit from flags."""

from pathlib import Path
from typing import Annotated

import typer

from .problem import (
    AspectRatio,
    BatchFraction,
    Depth,
    Horizon,
    InitScale,
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


def solve(
    init_scale: InitScale = 0.3,
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
    rtol: Annotated[float, Option(help="Relative accuracy of the errors, at two standard errors.")] = 1e-2,
    key: Key = 0,
    time_limit: Annotated[float | None, Option(help="Seconds after which the best answer so far is given.")] = None,
    plot: Picture = None,
    out: Annotated[Path | None, Option(help="Write a zarr store.")] = None,
) -> None:
    """Solve the limit n, d -> infinity of a diagonal linear network and print its errors in time."""
    import flowlimit as fl

    model = fl.DiagonalLinear(init_scale=init_scale, weight_decay=weight_decay, depth=depth)
    task = make_task(aspect_ratio, noise_var, sparsity)
    training = make_training(
        horizon, step_size, num_steps, Steps(momentum, nesterov, batch_fraction, label_noise, temperature)
    )
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
