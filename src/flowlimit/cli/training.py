"""The training that flags give: they change the file's training, or make one of another kind."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from .reads import as_typed

BOTH = "give either --horizon for gradient flow, or both --step-size and --num-steps for gradient descent"


def change_training(base: Any, flags: Mapping[str, Any]) -> Any:
    """Return a training with the numbers that flags give, and those of the base for the rest."""
    import flowlimit as fl

    own = {field.name: getattr(base, field.name) for field in dataclasses.fields(base)}
    if not flags or flags.keys() <= own.keys():
        return base.replaced(**flags) if flags else base
    if "horizon" in flags:
        if len(flags) > 1:
            raise ValueError(f"{', '.join(map(as_typed, flags))}: {BOTH}")
        return fl.GradientFlow(flags["horizon"])
    kept = {name: value for name, value in own.items() if base.clock.in_steps and not _is_nothing(value)}
    fields = kept | dict(flags)
    if not {"step_size", "num_steps"} <= fields.keys():
        lone = [as_typed(name) for name in flags if name not in ("step_size", "num_steps")]
        raise ValueError(f"{', '.join(lone)}: needs steps: give --step-size and --num-steps" if lone else BOTH)
    return _descent(fields)


def _descent(fields: dict[str, Any]) -> Any:
    """Return gradient descent, on batches or with noise if there are numbers of these."""
    import flowlimit as fl

    kind = fl.GradientDescent
    if "temperature" in fields:
        kind = fl.Langevin
    elif fields.keys() & {"batch_fraction", "label_noise", "persistent"}:
        kind, fields = fl.StochasticGradientDescent, {"batch_fraction": 1.0} | fields
    strange = sorted(fields.keys() - {field.name for field in dataclasses.fields(kind)})
    if strange:
        raise ValueError(f"--temperature: given beside {', '.join(strange)}; Langevin has none, give one or the other")
    return kind(**fields)


def _is_nothing(value: Any) -> bool:
    """Whether a field says nothing: no schedule, no momentum."""
    import numpy as np

    return value is None or (np.ndim(value) == 0 and not value)
