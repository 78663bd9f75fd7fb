"""What several verbs read from flags: the numbers of a problem, a training, and a path that does not exist yet."""

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

Option = typer.Option
InitScale = Annotated[float, Option(help="Init scale alpha.")]
WeightDecay = Annotated[float, Option(help="Weight decay lambda.")]
Depth = Annotated[int, Option(help="Depth of the diagonal network.")]
AspectRatio = Annotated[float, Option(help="Samples over dim.")]
NoiseVar = Annotated[float, Option(help="Variance of the label noise.")]
Sparsity = Annotated[float, Option(help="Probability that a target coordinate is 1, else 0.")]
Horizon = Annotated[float | None, Option(help="Train by gradient flow up to this time (20 if no step size).")]
StepSize = Annotated[float | None, Option(help="Train by gradient descent with this step size.")]
NumSteps = Annotated[int | None, Option(help="Number of steps of gradient descent.")]
Momentum = Annotated[float, Option(help="Momentum of descent.")]
Nesterov = Annotated[bool, Option(help="Nesterov's momentum.")]
BatchFraction = Annotated[float | None, Option(help="Train on random batches, this part of the samples each step.")]
LabelNoise = Annotated[float, Option(help="Standard deviation of fresh label noise at each step of batches.")]
Temperature = Annotated[float | None, Option(help="Add Langevin noise of this temperature to each step.")]
Key = Annotated[int, Option(help="Random key.")]
Picture = Annotated[Path | None, Option(help="Write a picture (.png or .pdf).")]


def make_task(aspect_ratio: float, noise_var: float, sparsity: float):
    """Return regression on a sparse target."""
    import flowlimit as fl

    return fl.Regression(aspect_ratio=aspect_ratio, noise_var=noise_var, target=fl.Bernoulli(sparsity))


class Steps(NamedTuple):
    """Flags of descent beyond its step."""

    momentum: float = 0.0
    nesterov: bool = False
    batch_fraction: float | None = None
    label_noise: float = 0.0
    temperature: float | None = None


def make_training(horizon: float | None, step_size: float | None, num_steps: int | None, steps: Steps):
    """Return gradient flow or a descent, whichever the flags say."""
    import flowlimit as fl

    if step_size is None and num_steps is None:
        if steps != Steps():
            raise ValueError("momentum, batches and noise need steps: give --step-size and --num-steps")
        return fl.GradientFlow(horizon=20.0 if horizon is None else horizon)
    if step_size is None or num_steps is None or horizon is not None:
        raise ValueError(
            "give either --horizon for gradient flow, or both --step-size and --num-steps for gradient descent"
        )
    moved = {"momentum": steps.momentum, "nesterov": steps.nesterov}
    if steps.temperature is not None:
        if steps != Steps(temperature=steps.temperature):
            raise ValueError("--temperature: give it without momentum, batches and label noise")
        return fl.Langevin(steps.temperature, step_size, num_steps)
    if steps.batch_fraction is not None or steps.label_noise:
        share = 1.0 if steps.batch_fraction is None else steps.batch_fraction
        return fl.StochasticGradientDescent(share, step_size, num_steps, **moved, label_noise=steps.label_noise)
    return fl.GradientDescent(step_size, num_steps, **moved)


def check_new(out: Path | None) -> None:
    """Refuse a path that exists, before the work and not after it."""
    if out is not None and out.exists():
        raise FileExistsError(f"--out: {out} exists; give another path")
