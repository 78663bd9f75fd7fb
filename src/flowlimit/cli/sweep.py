"""`flowlimit sweep`: a verb at many points into one store; `flowlimit table`: what a store holds."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

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
    Sparsity,
    Steps,
    StepSize,
    Temperature,
    WeightDecay,
    make_task,
    make_training,
)

Verb = Literal["fixed-point", "rate", "timescales", "solve", "simulate"]
VERBS = {
    "fixed-point": "fixed_point",
    "rate": "convergence_rate",
    "timescales": "timescales",
    "solve": "solve_dmft",
    "simulate": "simulate",
}
Over = Annotated[
    list[str],
    Option(
        help="An axis: model.init_scale=0.1,1,10 or task.aspect_ratio=lin:0.1:2:40 or model.init_scale=log:.01:10:40."
    ),
]


def sweep(
    verb: Annotated[Verb, typer.Argument(help="What is evaluated at each point.")],
    over: Over,
    store: Annotated[Path, Option(help="Directory of the store; one of the same sweep is resumed.")],
    shard: Annotated[str | None, Option(help="i/n: every n-th block from the i-th on, for job arrays.")] = None,
    workers: Annotated[int | None, Option(help="Processes on this machine.")] = None,
    scheduler: Annotated[str | None, Option(help="Address of a Dask scheduler, or its file.")] = None,
    block_size: Annotated[int | None, Option(help="Points in a block, the unit of work.")] = None,
    retry_failed: Annotated[bool, Option(help="Compute failed points again.")] = False,
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
    rtol: Annotated[float, Option(help="Accuracy of solve.")] = 1e-2,
    dim: Annotated[int, Option(help="Coordinates of simulate.")] = 1000,
    trials: Annotated[int, Option(help="Repetitions of simulate.")] = 10,
    key: Key = 0,
) -> None:
    """Evaluate a verb at many points; whatever stops it, the same command goes on where it was."""
    import flowlimit as fl

    axes = dict(map(parse_axis, over))
    model = fl.DiagonalLinear(init_scale=init_scale, weight_decay=weight_decay, depth=depth)
    task, training, options = make_task(aspect_ratio, noise_var, sparsity), None, {}
    if verb in ("solve", "simulate"):
        steps = Steps(momentum, nesterov, batch_fraction, label_noise, temperature)
        training = make_training(horizon, step_size, num_steps, steps)
        options = {"rtol": rtol, "key": key} if verb == "solve" else {"dim": dim, "trials": trials, "key": key}
        options = {name: value for name, value in options.items() if name not in axes}
    show = sys.stderr.isatty()
    _log(quiet=show)
    with open_executor(workers, scheduler) as executor:
        try:
            result = fl.sweep(
                *(getattr(fl, VERBS[verb]), model, task, training),
                over=axes,
                store=store,
                executor=executor,
                shard=shard,
                block_size=block_size,
                retry_failed=retry_failed,
                progress=show,
                **options,
            )
        except KeyboardInterrupt:
            typer.secho(f"stopped; the same command goes on from what is in {store}", err=True)
            raise typer.Exit(130) from None
    typer.echo(f"{result}")


def table(
    store: Annotated[Path, typer.Argument(help="Directory of the store.")],
    failures: Annotated[bool, Option(help="Print every point that failed, with its message.")] = False,
) -> None:
    """Print what a store of a sweep holds, finished or not."""
    import flowlimit as fl

    result = fl.open_sweep(store)
    typer.echo(f"{result}")
    if failures:
        for failure in result.failures:
            typer.echo(f"{dict(failure.point)}: {failure.outcome.code}: {failure.outcome.message}")


def parse_axis(text: str) -> tuple[str, list[float | int]]:
    """Read an axis.

    Examples
    --------
    >>> parse_axis("model.init_scale=log:0.1:10:3")
    ('model.init_scale', [0.1, 1.0, 10.0])
    >>> parse_axis("key=0,1,2")
    ('key', [0, 1, 2])
    """
    address, sign, values = text.partition("=")
    try:
        if not sign:
            raise ValueError
        if values.startswith(("lin:", "log:")):
            kind, low, high, count = values.split(":")
            return address, _spaced(kind, float(low), float(high), int(count))
        return address, [_number(value) for value in values.split(",")]
    except ValueError:
        raise ValueError(
            f"--over: given {text!r}, needs an address and values, e.g. model.init_scale=0.1,1,10 or "
            f"model.init_scale=log:0.01:10:40 (log or lin, from, to, count)"
        ) from None


def _spaced(kind: str, low: float, high: float, count: int) -> list[float | int]:
    import numpy as np

    if count < 1 or (kind == "log" and not (low > 0.0 and high > 0.0)):
        raise ValueError
    return (np.geomspace if kind == "log" else np.linspace)(low, high, count).round(15).tolist()


def _number(text: str) -> float | int:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _log(*, quiet: bool) -> None:
    """Write a line now and then where there is no terminal to show a bar on."""
    import logging

    log = logging.getLogger("flowlimit.sweep")
    if not quiet and not log.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        log.addHandler(handler)
        log.setLevel(logging.INFO)


@contextmanager
def open_executor(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """Yield a Dask client of workers here or of a scheduler elsewhere; None for this process."""
    if workers is None and scheduler is None:
        yield None
        return
    if workers is not None and scheduler is not None:
        raise ValueError("--workers and --scheduler: given both, needs one: workers here, or a scheduler elsewhere")
    try:
        from distributed import Client
    except ImportError:
        raise RuntimeError("--workers and --scheduler need Dask: pip install 'flowlimit[cluster]'") from None
    from flowlimit.sweeps.local import local_cluster

    if workers is not None:
        with local_cluster(workers) as cluster, Client(cluster) as client:
            yield client
    else:
        is_file = scheduler is not None and Path(scheduler).is_file()
        with Client(scheduler_file=scheduler) if is_file else Client(scheduler) as client:
            yield client
