"""One grammar for all verbs: a problem comes from a TOML file, from flags, or from both; flags come first."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

Option = typer.Option
File = Annotated[Path | None, typer.Argument(help="A problem in TOML, as flowlimit init writes it.", metavar="FILE")]
InitScale = Annotated[float | None, Option(help="Init scale alpha (0.3).")]
WeightDecay = Annotated[float | None, Option(help="Weight decay lambda (0).")]
Depth = Annotated[int | None, Option(help="Depth of the diagonal network (2).")]
AspectRatio = Annotated[float | None, Option(help="Samples over dim (0.5).")]
NoiseVar = Annotated[float | None, Option(help="Variance of the label noise (0.01).")]
Sparsity = Annotated[float | None, Option(help="Probability that a target coordinate is 1, else 0 (0.1).")]
Set = Annotated[
    list[str] | None, Option("--set", help="Any other number of the problem by address, e.g. model.init_scale=0.1.")
]
Horizon = Annotated[float | None, Option(help="Train by gradient flow up to this time (20).")]
StepSize = Annotated[float | None, Option(help="Train by gradient descent with this step size.")]
NumSteps = Annotated[int | None, Option(help="Number of steps of gradient descent.")]
Momentum = Annotated[float, Option(help="Momentum of descent.")]
Nesterov = Annotated[bool, Option("--nesterov", help="Nesterov's momentum.")]
BatchFraction = Annotated[float | None, Option(help="Train on random batches, this part of the samples each step.")]
LabelNoise = Annotated[float, Option(help="Standard deviation of fresh label noise at each step of batches.")]
Temperature = Annotated[float | None, Option(help="Add Langevin noise of this temperature to each step.")]
Key = Annotated[int | None, Option(help="Random key (0).")]


class Problem(NamedTuple):
    """What a command is about: nouns, a key, and settings of the verbs."""

    model: Any
    task: Any
    training: Any
    key: int
    settings: Any

    @property
    def nouns(self) -> tuple[Any, Any, Any]:
        """The model, the task and the training, as verbs take them."""
        return self.model, self.task, self.training

    def options(self, verb: str, **given: Any) -> dict[str, Any]:
        """Return the settings of a verb: what flags give, else what the file says."""
        known = getattr(self.settings, verb)
        return dict(known) | {name: value for name, value in given.items() if value is not None}


class Steps(NamedTuple):
    """Flags of a training in steps."""

    step_size: float | None
    num_steps: int | None
    momentum: float = 0.0
    nesterov: bool = False
    batch_fraction: float | None = None
    label_noise: float = 0.0
    temperature: float | None = None


def takes_problem(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the file and the flags of a problem in place of its argument ``problem``."""
    shared = inspect.signature(read_problem).parameters
    own = [p for name, p in inspect.signature(command).parameters.items() if name != "problem"]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        problem = read_problem(**{name: given.pop(name) for name in shared})
        command(problem, **given)

    needed, free = ([p for p in own if (p.default is p.empty) == without] for without in (True, False))
    parameters = [*needed, *shared.values(), *free]
    run.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def read_problem(
    file: File = None,
    init_scale: InitScale = None,
    weight_decay: WeightDecay = None,
    depth: Depth = None,
    aspect_ratio: AspectRatio = None,
    noise_var: NoiseVar = None,
    sparsity: Sparsity = None,
    horizon: Horizon = None,
    step_size: StepSize = None,
    num_steps: NumSteps = None,
    momentum: Momentum = 0.0,
    nesterov: Nesterov = False,
    batch_fraction: BatchFraction = None,
    label_noise: LabelNoise = 0.0,
    temperature: Temperature = None,
    key: Key = None,
    other: Set = None,
) -> Problem:
    """Return the problem that a file and flags say."""
    from .problem_file import Reader

    reader = Reader(file)
    task = {"aspect_ratio": aspect_ratio, "noise_var": noise_var, "target": _target(sparsity)}
    model = {"init_scale": init_scale, "weight_decay": weight_decay, "depth": depth}
    steps = Steps(step_size, num_steps, momentum, nesterov, batch_fraction, label_noise, temperature)
    nouns = {
        "model": _changed(reader.noun("model"), model),
        "task": _changed(reader.noun("task"), task),
        "training": make_training(horizon, steps) or reader.noun("training"),
    }
    for text in other or []:
        _set(nouns, text)
    return Problem(**nouns, key=reader.file.key if key is None else key, settings=reader.file)


def _target(sparsity: float | None) -> Any:
    import flowlimit as fl

    return None if sparsity is None else fl.Bernoulli(sparsity)


def _changed(noun: Any, flags: dict[str, Any]) -> Any:
    given = {name: value for name, value in flags.items() if value is not None}
    return noun.replaced(**given) if given else noun


def _set(nouns: dict[str, Any], text: str) -> None:
    from flowlimit.sweeps.problem import Problem as Swept

    from .axes import parse_axis

    address, values = parse_axis(text)
    if address.partition(".")[0] not in nouns or len(values) != 1:
        raise ValueError(f"--set: given {text!r}, needs an address of the model, task or training and one number")
    nouns |= Swept(print, nouns).at({address: values[0]}).nouns


def make_training(horizon: float | None, steps: Steps) -> Any:
    """Return gradient flow or a descent, whichever the flags say; None if they say nothing."""
    import flowlimit as fl

    if steps.step_size is None and steps.num_steps is None:
        if steps != Steps(None, None):
            raise ValueError("momentum, batches and noise need steps: give --step-size and --num-steps")
        return None if horizon is None else fl.GradientFlow(horizon)
    if steps.step_size is None or steps.num_steps is None or horizon is not None:
        raise ValueError(
            "give either --horizon for gradient flow, or both --step-size and --num-steps for gradient descent"
        )
    return _make_descent(steps, steps.step_size, steps.num_steps)


def _make_descent(steps: Steps, step_size: float, num_steps: int) -> Any:
    import flowlimit as fl

    moved = {"momentum": steps.momentum, "nesterov": steps.nesterov}
    if steps.temperature is not None:
        if steps != Steps(step_size, num_steps, temperature=steps.temperature):
            raise ValueError("--temperature: give it without momentum, batches and label noise")
        return fl.Langevin(steps.temperature, step_size, num_steps)
    if steps.batch_fraction is not None or steps.label_noise:
        share = 1.0 if steps.batch_fraction is None else steps.batch_fraction
        return fl.StochasticGradientDescent(share, step_size, num_steps, **moved, label_noise=steps.label_noise)
    return fl.GradientDescent(step_size, num_steps, **moved)
