"""`flowlimit fixed-point` and `flowlimit rate`: where gradient flow ends, and how fast it gets there."""

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


def _problem(init_scale: float, weight_decay: float, aspect_ratio: float, noise_var: float, sparsity: float):
    import flowlimit as fl

    model = fl.DiagonalLinear(init_scale=init_scale, weight_decay=weight_decay)
    return model, make_task(aspect_ratio, noise_var, sparsity)
