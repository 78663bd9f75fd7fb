"""`flowlimit warm`: compile beforehand, so that later calls, and nodes that see the folder, do not wait for it."""

import time
from collections.abc import Callable
from typing import Annotated, Any

import typer

from .grammar import Option

COARSE = 0.1
"""Relative accuracy of the limits: their programs serve all accuracies that the first level of paths reaches."""


def warm(
    kinds: Annotated[list[str] | None, typer.Argument(help="Kinds of problems; all if none is given.")] = None,
    show: Annotated[bool, Option("--list", help="List the kinds.")] = False,
) -> None:
    """Compile the programs of the usual kinds of problems and keep them, for all later calls of this user."""
    from flowlimit.program_cache import SWITCH, keep_programs, kept_programs

    if show:
        typer.echo("\n".join(KINDS))
        return
    if unknown := sorted(set(kinds or ()) - set(KINDS)):
        raise ValueError(f"kinds: given {', '.join(unknown)}, needs some of {', '.join(KINDS)}")
    if keep_programs() is None:
        raise ValueError(f"{SWITCH}: programs are not kept; unset it, or give it a folder")
    for kind in kinds or KINDS:
        began = time.perf_counter()
        KINDS[kind]()
        typer.echo(f"{kind}: {time.perf_counter() - began:.0f} s")
    kept = kept_programs()
    if kept is not None:
        typer.echo(f"{kept.number} programs, {kept.size / 1e6:.0f} MB, in {kept.folder}")


def _closed_forms() -> None:
    import flowlimit as fl

    for decay in (0.0, 0.1):
        problem = fl.DiagonalLinear(0.3, weight_decay=decay), _task()
        fl.timescales(*problem)
        fl.convergence_rate(*problem)


def _flow() -> None:
    import flowlimit as fl

    fl.solve_dmft(fl.DiagonalLinear(0.3), _task(), fl.GradientFlow(20.0), rtol=COARSE)


def _descent() -> None:
    import flowlimit as fl

    fl.solve_dmft(fl.DiagonalLinear(0.3), _task(), fl.GradientDescent(0.1, num_steps=50), rtol=COARSE)


def _linear() -> None:
    import flowlimit as fl

    fl.solve_dmft(fl.Linear(), _task(), fl.GradientFlow(20.0), rtol=COARSE)


def _task() -> Any:
    import flowlimit as fl

    return fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))


KINDS: dict[str, Callable[[], None]] = {
    "closed-forms": _closed_forms,
    "flow": _flow,
    "descent": _descent,
    "linear": _linear,
}
"""Kinds of problems, and what compiles the programs of each."""
