"""`flowlimit sweep`: a verb at many points into one store; `flowlimit table`: what a store holds."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .axes import parse_axes
from .failures import INTERRUPTED
from .grammar import NOUNS, Option, Problem, at_address, takes_problem
from .reads import FLAGS, READS, as_typed, overlap, refuse_unread

Verb = Literal["fixed-point", "convergence-rate", "timescales", "solve-dmft", "simulate"]
POINTS, WORK = "Sweep", "Work"
"""Headings of flags in the command's help: what is computed, and by whom."""
Over = Annotated[
    list[str],
    Option(
        help="An axis: model.init_scale=0.1,1,10 or task.aspect_ratio=lin:0.1:2:40 or model.init_scale=log:.01:10:40.",
        rich_help_panel=POINTS,
    ),
]


@takes_problem("sweep")
def sweep(
    problem: Problem,
    verb: Annotated[Verb, typer.Argument(help="What is evaluated at each point.")],
    over: Over,
    store: Annotated[
        Path, Option(help="Directory of the store; one of the same sweep is resumed.", rich_help_panel=POINTS)
    ],
    shard: Annotated[
        str | None, Option(help="i/n: every n-th block from the i-th on, for job arrays.", rich_help_panel=WORK)
    ] = None,
    workers: Annotated[int | None, Option(help="Processes on this machine.", min=1, rich_help_panel=WORK)] = None,
    scheduler: Annotated[
        str | None, Option(help="Address of a Dask scheduler, or its file.", rich_help_panel=WORK)
    ] = None,
    block_size: Annotated[
        int | None, Option(help="Points in a block, the unit of work.", min=1, rich_help_panel=WORK)
    ] = None,
    retry_failed: Annotated[
        bool, Option("--retry-failed", help="Compute failed points again.", rich_help_panel=WORK)
    ] = False,
) -> None:
    """Evaluate a verb at many points; whatever stops it, the same command goes on where it was."""
    import flowlimit as fl
    from flowlimit.asymptotics.case import check_problem
    from flowlimit.verbs.progress import is_watched

    check_store(store, needed=False)
    name = verb.replace("-", "_")
    axes = _axes(problem, verb, over)
    if "training" not in READS[verb]:
        check_problem(problem.model, problem.task)
    options: dict[str, Any] = {}
    training = None
    if "training" in READS[verb]:
        training = problem.training
        given: dict[str, Any] = problem.options(name) | {"key": problem.key}
        options = {name: value for name, value in given.items() if name not in axes and value is not None}
    kept = f"points in {store} are kept"
    with log(quiet=is_watched()), open_executor(workers, scheduler) as executor, resumable(kept):
        result = fl.sweep(
            *(getattr(fl, name), problem.model, problem.task, training),
            over=axes,
            store=store,
            executor=executor,
            shard=shard,
            block_size=block_size,
            retry_failed=retry_failed,
            **options,
        )
    typer.echo(f"{result}")


def check_store(store: Path, *, needed: bool = True) -> None:
    """Refuse a path that is no store, before anything is computed or read."""
    if not store.exists():
        if needed:
            raise FileNotFoundError(f"{store} does not exist; give the path of a store that flowlimit sweep made")
        return
    try:
        kind = json.loads((store / "zarr.json").read_text())["attributes"]["kind"]
    except (OSError, ValueError, LookupError, TypeError):
        kind = None
    if kind != "Sweep":
        what = "a file or folder" if kind is None else f"a stored {kind}"
        raise ValueError(f"{store} is {what}, needs a store that flowlimit sweep made")


def _axes(problem: Problem, verb: str, over: list[str]) -> dict[str, list[float | int]]:
    """Return the axes, or refuse those that the verb would not read, and flags that an axis would override."""
    axes = parse_axes(over)
    refuse_unread(verb, addresses=[("--over", address) for address in axes])
    nouns: dict[str, Any] = dict(zip(NOUNS, problem.nouns, strict=True))
    for address, values in axes.items():
        if address in nouns:
            raise ValueError(f"--over {address}: given a whole noun, needs a number in it, e.g. model.init_scale")
        for name in problem.flags:
            # a descent needs both its numbers before one of them becomes an axis
            if FLAGS[name].part != "training" and (name == address or overlap(FLAGS[name].address, address)):
                raise ValueError(f"--over {address}: given beside {as_typed(name)}, which it overrides; leave it out")
        if address.partition(".")[0] == "model":
            for value in (min(values), max(values)):
                at_address(nouns, address, value, "--over")
    return axes


def table(
    store: Annotated[Path, typer.Argument(help="Directory of the store.")],
    failures: Annotated[bool, Option(help="Print every point that failed, with its message.")] = False,
) -> None:
    """Print what a store of a sweep holds, finished or not."""
    import flowlimit as fl

    check_store(store)
    result = fl.open_sweep(store)
    typer.echo(f"{result}")
    if failures:
        for failure in result.failures:
            typer.echo(f"{dict(failure.point)}: {failure.outcome.code}: {failure.outcome.message}")


@contextmanager
def log(*, quiet: bool) -> Iterator[None]:
    """Write a line now and then where there is no terminal to show a bar on."""
    import logging

    logger = logging.getLogger("flowlimit.sweep")
    if quiet or logger.handlers:
        yield
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@contextmanager
def resumable(kept: str) -> Iterator[None]:
    """Say, when stopped from the keyboard, what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        typer.secho(f"stopped; {kept}, and the same command goes on from there", err=True)
        raise typer.Exit(INTERRUPTED) from None


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
