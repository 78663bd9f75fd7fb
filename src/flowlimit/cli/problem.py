"""What several verbs read from flags: the numbers of a problem, a training, and a path that does not exist yet."""

from pathlib import Path
from typing import Annotated

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
Key = Annotated[int, Option(help="Random key.")]
Picture = Annotated[Path | None, Option(help="Write a picture (.png or .pdf).")]


def make_task(aspect_ratio: float, noise_var: float, sparsity: float):
    """Return regression on a sparse target."""
    import flowlimit as fl

    return fl.Regression(aspect_ratio=aspect_ratio, noise_var=noise_var, target=fl.Bernoulli(sparsity))


def make_training(horizon: float | None, step_size: float | None, num_steps: int | None):
    """Return gradient flow or gradient descent, whichever the flags say."""
    import flowlimit as fl

    if step_size is None and num_steps is None:
        return fl.GradientFlow(horizon=20.0 if horizon is None else horizon)
    if step_size is None or num_steps is None or horizon is not None:
        raise ValueError(
            "give either --horizon for gradient flow, or both --step-size and --num-steps for gradient descent"
        )
    return fl.GradientDescent(step_size=step_size, num_steps=num_steps)


def check_new(out: Path | None) -> None:
    """Refuse a path that exists, before the work and not after it."""
    if out is not None and out.exists():
        raise FileExistsError(f"--out: {out} exists; give another path")
