"""What has a limit: every verb that returns one asks here first."""

from collections.abc import Hashable, Mapping

import jax
import numpy as np

from ..types import Observable, is_traced
from .flow import make_flow
from .laws import Target
from .models import Model
from .requests import check_observables, named_observables
from .tasks import Task
from .trainings import Training

MOST_STRATA = 10_000
ROUNDING = 1e-9
MOST_COUNTS = 500
_COUNTS: dict[Hashable, int] = {}
"""Kind of a law -> its strata."""


def check_limit_request(
    model: Model, task: Task, training: Training, observables: Mapping[str, Observable] | None
) -> None:
    """Refuse, before anything is compiled, what has no limit, and functions of a user that fail on one coordinate."""
    refuse_without_limit(task)
    check_observables(named_observables(observables), make_flow(model, task, training))


def refuse_without_limit(task: Task) -> None:
    """Refuse a design that is not known to have the limit of Gaussian data, a law of too many atoms, and unfit noise.

    Examples
    --------
    >>> import flowlimit as fl
    >>> refuse_without_limit(fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1), design=fl.BinaryDesign()))
    """
    design, law = task.design, task.law
    if not design.has_limit:
        raise ValueError(
            f"design: given {design!r}, but the limit is known only for independent entries of mean 0 and variance "
            f"1/dim; leave design= out for the limit of such data, or train on this design with fl.simulate"
        )
    if strata_count(law) > MOST_STRATA:
        name = "target" if task.feature_law is None else "features"
        raise ValueError(
            f"{name}: given {law!r}, a mixture of more than {MOST_STRATA} parts, each of which a limit integrates "
            f"over; needs fewer, e.g. fl.Empirical(np.quantile(values, np.linspace(0.0005, 0.9995, 1000)))"
        )
    _refuse_noise(task)


def strata_count(law: Target) -> int:
    """Return in how many strata a law is, without computing them: the first time each operation would be compiled.

    Examples
    --------
    >>> import flowlimit as fl
    >>> strata_count(fl.Bernoulli(0.1))
    2
    """
    leaves, structure = jax.tree.flatten(law)
    kind = structure, *map(np.shape, leaves)
    count = _COUNTS.get(kind)
    if count is None:
        if len(_COUNTS) >= MOST_COUNTS:
            _COUNTS.clear()
        count = _COUNTS[kind] = jax.eval_shape(law.strata).probability.shape[0]
    return count


def _refuse_noise(task: Task) -> None:
    """Refuse a task of a user whose noise numbers are not those that a limit integrates over."""
    scale, floor = task.noise_scale, task.error_floor
    if is_traced(scale) or is_traced(floor):
        return
    scale, floor = float(scale), float(floor)
    needed = (scale, scale**2) if task.loss.closes else (1.0, 0.0)
    if abs(scale - needed[0]) > ROUNDING * needed[0] or abs(floor - needed[1]) > ROUNDING * needed[1]:
        raise ValueError(
            f"task: given {task!r} with noise_scale {scale:g} and error_floor {floor:g}; the limit needs "
            + ("error_floor = noise_scale^2 for the squared loss" if task.loss.closes else "1 and 0 for this loss")
        )
