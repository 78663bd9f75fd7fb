"""What has a limit: every verb that returns one asks here first."""

from collections.abc import Mapping
from typing import Any

from ..types import Observable
from .flow import make_flow
from .models import Model
from .requests import check_observables, named_observables
from .tasks import Task
from .trainings import Training

MOST_STRATA = 10_000


def check_limit_request(
    model: Model, task: Task, training: Training, observables: Mapping[str, Observable] | None
) -> None:
    """Refuse, before anything is compiled, what has no limit, and functions of a user that fail on one coordinate."""
    refuse_without_limit(task)
    check_observables(named_observables(observables), make_flow(model, task, training))


def refuse_without_limit(task: Any) -> None:
    """Refuse a design that is not known to have the limit of Gaussian data, and a law of too many atoms.

    Examples
    --------
    >>> import flowlimit as fl
    >>> refuse_without_limit(fl.Regression(0.5, 0.01, fl.Bernoulli(0.1), design=fl.BinaryDesign()))
    """
    design = getattr(task, "design", None)
    if design is not None and not design.has_limit:
        raise ValueError(
            f"design: given {design!r}, but the limit is known only for independent entries of mean 0 and variance "
            f"1/dim; leave design= out for the limit of such data, or train on this design with fl.simulate"
        )
    target = getattr(task, "target", None)
    if target is not None and len(target.strata().probability) > MOST_STRATA:
        raise ValueError(
            f"target: given {target!r}, a mixture of more than {MOST_STRATA} parts, each of which a limit integrates "
            f"over; needs fewer, e.g. fl.Empirical(np.quantile(values, np.linspace(0.0005, 0.9995, 1000)))"
        )
