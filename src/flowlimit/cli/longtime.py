"""`flowlimit fixed-point`, `rate` and `timescales`: where gradient flow ends, how fast, and through which phases."""

import typer

from .problem import AspectRatio, InitScale, NoiseVar, Sparsity, WeightDecay, make_task


def fixed_point(
    init_scale: InitScale = 0.3,
    weight_decay: WeightDecay = 0.0,
    aspect_ratio: AspectRatio = 0.5,
    noise_var: NoiseVar = 0.01,
    sparsity: Sparsity = 0.1,
) -> None:
    """Print the errors at which gradient flow ends, and how much of the target's support it finds."""
    import flowlimit as fl

    point = fl.fixed_point(*_problem(init_scale, weight_decay, aspect_ratio, noise_var, sparsity))
    typer.echo(f"{point}")
    if point.case == "threshold":
        return
    typer.echo(f"P(w = 0) {float(point.atom):.4f}")
    for level in (0.0, 0.1):
        found, wrong = float(point.true_positive_rate(level)), float(point.false_positive_rate(level))
        typer.echo(f"|w| > {level:g}: true positives {found:.4f}, false positives {wrong:.4f}")


def rate(
    init_scale: InitScale = 0.3,
    weight_decay: WeightDecay = 0.0,
    aspect_ratio: AspectRatio = 0.5,
    noise_var: NoiseVar = 0.01,
    sparsity: Sparsity = 0.1,
) -> None:
    """Print the rate at which gradient flow reaches its end."""
    import flowlimit as fl

    typer.echo(f"{fl.convergence_rate(*_problem(init_scale, weight_decay, aspect_ratio, noise_var, sparsity))}")


def timescales(
    init_scale: InitScale = 0.3,
    weight_decay: WeightDecay = 0.0,
    aspect_ratio: AspectRatio = 0.5,
    noise_var: NoiseVar = 0.01,
    sparsity: Sparsity = 0.1,
) -> None:
    """Print when the phases of learning come: lazy and rich from large starts, search and descent from small ones."""
    import numpy as np

    import flowlimit as fl

    times = fl.timescales(*_problem(init_scale, weight_decay, aspect_ratio, noise_var, sparsity))
    typer.echo(f"{times}")
    if times.regime == "small" and init_scale < 1.0:
        typer.echo("share of coordinates past their descent time:")
        for t in float(times.search) * np.array([2.0, 5.0, 10.0, 20.0]):
            learnt, wrong = float(times.learnt(t)), float(times.false_alarms(t))
            typer.echo(f"t = {t:8.4g}: targets {learnt:.4f}, others {wrong:.4f}")


def _problem(init_scale: float, weight_decay: float, aspect_ratio: float, noise_var: float, sparsity: float):
    import flowlimit as fl

    model = fl.DiagonalLinear(init_scale=init_scale, weight_decay=weight_decay)
    return model, make_task(aspect_ratio, noise_var, sparsity)
