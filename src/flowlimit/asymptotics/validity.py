"""Which numbers a closed form has an answer for, also where they are traced and cannot be refused.

Outside of jit, grad and vmap the nouns refuse a wrong number by name. Inside them a number is known only at run time:
there an answer that is none is NaN, so that it is seen, and the other points of a batch keep theirs.
"""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Bool

from ..problem.models import DiagonalLinear
from ..problem.tasks import Regression
from ..types import Scalar
from .case import Case, init_scale


def is_valid(model: DiagonalLinear, task: Regression, case: Case | None = None) -> Bool[Array, ""]:
    """Return whether all numbers of a problem are in their ranges, and belong to the case if one is given."""
    probability, mean, std = task.coordinate_law.strata()
    scale, decay, delta = init_scale(model), model.weight_decay, task.aspect_ratio
    variances = task.coordinate_law.variances()
    finite = [jnp.isfinite(x).all() for x in (scale, decay, delta, task.noise_var, mean, std, variances)]
    positive = [scale > 0.0, delta > 0.0, (variances > 0.0).all()]
    at_least_0 = [(x >= 0.0).all() for x in (decay, task.noise_var, probability, std)]
    return jnp.stack([*finite, *positive, *at_least_0, _belongs(decay, delta, case)]).all()


def _belongs(decay: Scalar, delta: Scalar, case: Case | None) -> Bool[Array, ""]:
    if case is None:
        return jnp.ones((), dtype=bool)
    if case == "lasso":
        return decay > 0.0
    side = {"ridgeless": delta > 1.0, "interpolating": delta < 1.0, "threshold": delta == 1.0}[case]
    return (decay == 0.0) & side


def nan_unless(good: Bool[Array, ""], value: Any) -> Any:
    """Return a number, or NaN where it is none."""
    return jnp.where(good, value, jnp.nan)
