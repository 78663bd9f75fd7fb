"""What several verbs read from flags: a training, and a path that does not exist yet."""

from pathlib import Path


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
