"""The verb `derivative`: how the errors of a limit move with a number of the problem."""

from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp

from ..dmft import differentiate, frozen_grid
from ..dmft.control.plan import make_plan
from ..dmft.readout.measure import Measure
from ..dmft.sampling.paths import Counts
from ..dmft.settings import PanelSettings, StepSettings
from ..numerics.precision import own_settings
from ..numerics.streams import as_key
from ..problem.checks import instance, integer, shown
from ..problem.limits import refuse_without_limit
from ..problem.models import Model
from ..problem.tasks import Task
from ..problem.trainings import Training
from ..results import Curve, Curves, Limit
from ..results.answer import NOUNS
from ..results.spread import standard_error, student_factor
from ..types import PRNGKey
from .solve import MEMORY_LIMIT

MOST_PATHS, MOST_RESPONSE_PATHS = 2048, 512
MOST_REPLICAS = 256
"""Each is a whole solve: a bar is then a sixteenth of one replica's spread, and more take hours."""
check_replicas = integer("replicas", at_least=2, at_most=MOST_REPLICAS, example=8)


@own_settings()
def derivative(
    limit: Limit,
    wrt: str,
    *,
    replicas: int = 8,
    key: int | PRNGKey = 0,
) -> Curves:
    """Differentiate training and test error by one number of the problem, at the limit's panels.

    Panels, normals and modes are frozen, so this is the derivative of a smooth function, by forward differentiation
    through the whole solve; its standard error is the spread over replicas with the Student factor.

    Parameters
    ----------
    limit
        A limit; its problem, panels, times and number of paths (2048 at most) are used.
    wrt
        The number, as a path: ``"model.init_scale"``, ``"task.aspect_ratio"``, ``"task.target.value"``.
    replicas
        Whole solves behind the mean, from 2 to 256: their spread is its standard error.
    key
        An int or a jax key.

    Examples
    --------
    >>> import flowlimit as fl
    >>> task = fl.Regression(2.0, noise_var=0.1, target=fl.Normal())
    >>> problem = fl.Linear(0.1), task, fl.GradientDescent(0.2, num_steps=4)
    >>> slope = fl.derivative(fl.solve_dmft(*problem), "task.noise_var", replicas=2)
    >>> round(float(slope.test_error[0]), 6)  # at the start the noise is all there is of it
    1.0
    """
    instance("limit", Limit, "fl.solve_dmft(...)")(limit)
    model, task, training = (limit.noun(name) for name in NOUNS)
    if not task.loss.closes:
        raise TypeError(f"task: given {task!r}; derivatives are there for the squared loss, needs fl.Regression")
    refuse_without_limit(task)
    if not limit.replicas:
        raise ValueError(f"limit: given one without curves ({limit.result.message}); solve it first")
    replicas, nouns = check_replicas(replicas), (model, task, training)
    pick = _picker(wrt, nouns)
    if limit.kernels is None or limit.operators is None:
        raise ValueError(f"limit: given one without kernels ({limit.unkept})")
    stats, measure = limit.stats, Measure(())
    settings = StepSettings(whole_history=stats.nodes) if stats.edges is None else PanelSettings()
    options = {"settings": settings, "rtol": stats.rtol, "measure": measure, "memory_limit": MEMORY_LIMIT}
    plan = make_plan(*nouns, key=as_key(key), **options)
    grid, rotation = frozen_grid(limit, training.clock)
    counts = Counts(min(stats.paths, MOST_PATHS), min(stats.response_paths, MOST_RESPONSE_PATHS))
    values = differentiate(plan, nouns, pick, grid, counts, rotation, replicas)
    factor = student_factor(replicas)
    curves = {name: Curve(value.mean(axis=0), factor * standard_error(value)) for name, value in values.items()}
    return Curves(grid.saves, curves, limit.discrete)


def _picker(wrt: str, nouns: tuple[Model, Task, Training]) -> Any:
    places = {"model": 0, "task": 1, "training": 2}
    first, *rest = str(wrt).split(".")
    pick = lambda nouns: reduce(getattr, rest, nouns[places[first]])
    try:
        number = pick(nouns) if rest else None
    except (KeyError, AttributeError):
        number = None
    if not isinstance(number, jax.Array) or number.ndim or not jnp.issubdtype(number.dtype, jnp.floating):
        raise ValueError(f"wrt: given {shown(wrt)}, needs the path of a number, e.g. wrt='model.init_scale'")
    if wrt == "training.horizon":
        raise ValueError("wrt: given 'training.horizon', on which no value before it depends")
    return pick
