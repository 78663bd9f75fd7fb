"""From nouns and options to a plan: sizes, saved positions, groups of like models, engines; and the refusals."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from ..numerics.compiling import compiled
from ..numerics.devices import checked_devices
from ..numerics.memory import as_finite, gibibytes
from ..numerics.streams import as_key
from ..problem.checks import integer, shown
from ..problem.clocks import Clock, StepClock
from ..problem.flow import Flow, make_flow
from ..problem.models import Model
from ..problem.noun import signature
from ..problem.requests import Observables, Positions, check_observables, named_observables, positions_of
from ..problem.tasks import DataSource, Task
from ..problem.trainings import Training
from ..types import Normals, PRNGKey, Scalar, Theta, Times
from .data import BALANCED, Draws, checked_draws, shared_data
from .engine import Engine
from .flows import FlowEngine
from .memory import Sizes, memory_bytes
from .programs import TRIAL, make_mesh
from .rows import AXIS as ROW
from .rows import Rows
from .steps import StepEngine
from .stiffness import is_stiff

DEFAULT_TRIALS = 10
check_dim = integer("dim", at_least=1, example=1000)
check_trials = integer("trials", at_least=1, example=10)


@dataclass(frozen=True)
class Group:
    """Models that run as one batch: where they stand in the user's list, their stacked flow, and their engine."""

    members: tuple[int, ...]
    flow: Flow
    engine: Engine


@dataclass(frozen=True)
class Plan:
    """A whole experiment."""

    task: DataSource
    groups: Sequence[Group]
    samples: int
    dim: int
    trials: int
    key: PRNGKey
    saves: Positions
    weights: Positions
    clock: Clock
    observables: Observables
    mesh: Mesh
    draws: Draws
    memory: int
    """Bytes that the runs add to this process, by estimate."""

    @property
    def at_once(self) -> int:
        """Number of trials that run at the same time."""
        return self.mesh.shape[TRIAL]

    @property
    def rows(self) -> Rows:
        """How the rows of X are shared."""
        return Rows(self.samples, self.mesh.shape[ROW])


def make_plan(
    models: Sequence[Any],
    task: Any,
    training: Any,
    *,
    dim: Any,
    trials: Any,
    key: Any,
    save_at: Times | None,
    weights_at: Times | None,
    observables: Any,
    rtol: float,
    solver: Any,
    devices: Sequence[Any] | None,
    devices_per_trial: Any = 1,
    memory_limit: float = math.inf,
    draws: Any = BALANCED,
) -> Plan:
    """Check the arguments of `simulate` and lay out its work."""
    _check_nouns(models, task, training)
    samples, dim = _size(models, task, dim)
    trials = _trials(models, task, training, trials)
    mesh = _mesh(devices, devices_per_trial, trials)
    named = named_observables(observables)
    kept = 0 if weights_at is None else np.size(weights_at)
    saved = training.clock.save_count if save_at is None else np.size(save_at)
    memory = memory_bytes(Sizes(samples, dim, len(models), trials, kept, saved + kept, len(named)), mesh)
    _check_memory(memory, memory_limit, samples, dim, saved)
    _check_target(models, task, named)
    for flow in (make_flow(model, task, training) for model in models):
        check_observables(named, flow, known=_has_target(task))
    weights = positions_of("weights_at", [] if weights_at is None else weights_at, training.clock)
    saves = positions_of("save_at", save_at, training.clock)
    if save_at is None:  # a grid of our choosing makes room for what is asked for
        saves = np.union1d(saves, weights)
    weights = _among(weights, saves, training.clock)
    if not 1e-12 <= as_finite(rtol) <= 1e-2:
        raise ValueError(f"rtol: given {shown(rtol)}, needs a number from 1e-12 to 1e-2, e.g. rtol=1e-6")
    if solver is not None and not isinstance(solver, diffrax.AbstractAdaptiveSolver):
        raise TypeError(
            f"solver: given {shown(solver)}, needs an adaptive diffrax solver, e.g. solver=diffrax.Dopri8()"
        )
    return Plan(
        task=task,
        groups=_groups(models, task, training, dim, samples / dim, rtol, solver),
        samples=samples,
        dim=dim,
        trials=trials,
        key=as_key(key),
        saves=saves,
        weights=weights,
        clock=training.clock,
        observables=named,
        mesh=mesh,
        draws=checked_draws(draws),
        memory=memory,
    )


def _check_memory(needed: int, allowed: float, samples: int, dim: int, saved: int) -> None:
    if needed > allowed:
        raise ValueError(
            f"memory_limit: {samples} samples of dim {dim} with {saved} saved times need {gibibytes(needed)}, allowed "
            f"are {gibibytes(allowed)}; take a smaller dim, fewer times (save_at=) or trials, or raise memory_limit="
        )


def _mesh(devices: Sequence[Any] | None, devices_per_trial: Any, trials: int) -> Mesh:
    every = checked_devices(jax.local_devices() if devices is None else devices)
    own = devices_per_trial
    if not isinstance(own, int | np.integer) or isinstance(own, bool) or own < 1 or len(every) % own:
        fits = [n for n in range(1, len(every) + 1) if not len(every) % n]
        raise ValueError(
            f"devices_per_trial: given {shown(own)}, needs a number that divides the {len(every)} devices, "
            f"e.g. devices_per_trial={fits[-1]}"
        )
    # More devices than trials have work for stay idle, unless another process would have none: it must take part.
    used = every[: trials * own]
    processes = lambda devices: {device.process_index for device in devices}
    return make_mesh(used if processes(used) == processes(every) else every, int(own))


def _check_nouns(models: Sequence[Any], task: Any, training: Any) -> None:
    if not models:
        raise ValueError("model: given an empty list, needs at least one model, e.g. fl.DiagonalLinear(init_scale=0.3)")
    for model in models:
        if not isinstance(model, Model):
            raise TypeError(f"model: given {shown(model)}, needs a model, e.g. fl.DiagonalLinear(init_scale=0.3)")
    if not isinstance(task, DataSource):
        raise TypeError(
            f"task: given {shown(task)}, needs a task or a Dataset, e.g. fl.Regression(0.5, noise_var=0.01, "
            f"target=fl.Bernoulli(0.1))"
        )
    if not isinstance(training, Training):
        raise TypeError(f"training: given {shown(training)}, needs a training, e.g. fl.GradientFlow(horizon=100.0)")


def _size(models: Sequence[Model], task: DataSource, dim: Any) -> tuple[int, int]:
    matrix = shared_data(task).X
    if matrix is not None:
        if dim not in (None, matrix.shape[1]):
            raise ValueError(f"dim: given {shown(dim)}, but the matrix has {matrix.shape[1]} columns; leave dim out")
        samples, dim = matrix.shape
    else:
        assert isinstance(task, Task)
        dim = check_dim(dim)
        samples = task.samples(dim)
    for model in models:
        given = model.num_coordinates
        if given is not None and (task.is_random or given != dim):
            raise ValueError(
                f"model: given {shown(model)}, with one number for each of {given} coordinates; that needs a Dataset "
                f"of that dim; for random numbers give their law, e.g. init_scale=fl.Empirical(scales)"
            )
    return samples, dim


def _has_target(task: DataSource) -> bool:
    return task.is_random or task.known().w_star is not None


def _check_target(models: Sequence[Model], task: DataSource, observables: Observables) -> None:
    """Refuse what needs a target on data without one."""
    if _has_target(task):
        return
    for model in models:
        if model.num_coordinates is not None:
            continue  # the one start that is not a function of a single coordinate
        near, far = (_first_start(model, jnp.zeros(model.num_normals), w) for w in (jnp.zeros(()), jnp.ones(())))
        if not np.array_equal(near, far):
            raise ValueError(
                f"model: given {shown(model)}, whose start depends on the target; give the Dataset its w_star"
            )
    for name, function in observables:
        try:
            jax.eval_shape(lambda w, function=function: function(w, None), jnp.zeros(()))
        except TypeError:
            raise ValueError(
                f"observables: given {shown(name)}, which uses w_star; give the Dataset its w_star, or leave it out"
            ) from None


def _trials(models: Sequence[Model], task: DataSource, training: Training, trials: Any) -> int:
    random = task.is_random or any(is_random(model, training) for model in models)
    if trials is None:
        return DEFAULT_TRIALS if random else 1
    trials = check_trials(trials)
    if trials > 1 and not random:
        raise ValueError(
            f"trials: given {trials}, but data and starts are fixed, so that all trials would be the same;"
            f" leave trials out"
        )
    return int(trials)


def _among(weights: Positions, saves: Positions, clock: Clock) -> Positions:
    """Return the saved positions at which weights are wanted, matched up to rounding."""
    if not len(weights):
        return weights
    nearest = saves[np.abs(saves[None, :] - weights[:, None]).argmin(axis=1)]
    missing = ~np.isclose(nearest, weights, rtol=1e-9, atol=0.0)
    if missing.any():
        which = ", ".join(f"{t:g}" for t in clock.times_at(weights[missing][:3]))
        raise ValueError(f"weights_at: given {which}, which save_at does not have; add it there, or leave save_at out")
    return nearest


def is_random(model: Model, training: Training) -> bool:
    """Whether two trainings on the same data differ: by initialisations or by the noise of their steps."""
    return not training.noise.is_none or _starts_at_random(model)


def _starts_at_random(model: Model) -> bool:
    if not model.num_normals:
        return False
    normals = np.random.default_rng(0).normal(size=(8, model.num_normals))
    starts = [np.asarray(_first_start(model, jnp.asarray(row), jnp.ones(()))) for row in normals]
    return any(not np.array_equal(start, starts[0]) for start in starts)


@compiled
def _first_start(model: Model, normals: Normals, w_star: Scalar) -> Theta:
    return model.init(normals, w_star)


def _groups(
    models: Sequence[Model],
    task: DataSource,
    training: Training,
    dim: int,
    aspect_ratio: float,
    rtol: float,
    solver: Any,
) -> list[Group]:
    """Batch models of one kind: same functions, same shapes, same engine."""
    flows: dict[Any, list[tuple[int, Flow]]] = {}
    engines: dict[Any, Engine] = {}
    for index, model in enumerate(models):
        flow = any_length(make_flow(model, task, training))
        engine = _engine(flow, dim, aspect_ratio, rtol, solver)
        kind = (jax.tree.structure(engine), signature(flow))
        flows.setdefault(kind, []).append((index, flow))
        engines[kind] = engine
    return [
        Group(tuple(index for index, _ in members), stack_flows([flow for _, flow in members]), engines[kind])
        for kind, members in flows.items()
    ]


def any_length(flow: Flow) -> Flow:
    """Drop the number of steps: the driver counts them, and one program serves any number."""
    clock = flow.clock.steps
    if clock is None or not clock.is_even:
        return flow
    return dataclasses.replace(flow, clock=StepClock(clock.step_size, num_steps=0))


def _engine(flow: Flow, dim: int, aspect_ratio: float, rtol: float, solver: Any) -> Engine:
    return StepEngine() if flow.clock.in_steps else flow_engine(flow, dim, aspect_ratio, rtol, solver)


def flow_engine(flow: Flow, dim: int, aspect_ratio: float, rtol: float, solver: Any) -> FlowEngine:
    """Return the integrator of a flow: the user's, or the one that its stiffness asks for."""
    stiff = solver is None and is_stiff(flow, dim, aspect_ratio, flow.clock.end, rtol)
    return FlowEngine(rtol=jnp.asarray(rtol), stabilised=stiff, solver=solver)


def stack_flows(flows: Sequence[Flow]) -> Flow:
    """Return flows of one kind as one, whose arrays have an axis of models first."""
    arrays, static = zip(*(eqx.partition(flow, eqx.is_array) for flow in flows), strict=True)
    return eqx.combine(jax.tree.map(lambda *leaves: jnp.stack(leaves), *arrays), static[0])
