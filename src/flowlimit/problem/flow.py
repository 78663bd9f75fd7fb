"""The one internal noun: a flow, made from (model, task, training). Simulator and solver see only this.

It is the paper's general flow, eq. (flow_general), row by row:

    theta' = drift_t(theta, g),    g = X^T residual(f) / delta,    f = X readout_t(theta),

in continuous time, or theta_{i+1} = theta_i + step_size drift for a clock that runs in steps.
"""

import threading
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..types import Coordinates, Output, OutputRows, Scalar, TeacherRows, Theta, ThetaRows
from .clocks import Clock, StepNoise
from .functions import called, is_tracing, is_users
from .losses import Loss
from .models.model import Model
from .models.scales import coordinate_axes, first_coordinate
from .noun import signature
from .tasks import DataSource
from .trainings import Training


class Flow(eqx.Module):
    """Functions of one coordinate (init, readout, drift, penalty), of one sample (loss), and a clock."""

    init: Callable[..., Theta]
    readout: Callable[..., Output]
    drift: Callable[..., Theta]
    penalty: Callable[..., Scalar]
    loss: Loss
    clock: Clock
    num_normals: int = eqx.field(static=True)
    parameters: tuple[int, ...] = eqx.field(static=True)  # shape of a coordinate's theta
    outputs: tuple[int, ...] = eqx.field(static=True)  # shape of a coordinate's weight: () for one output
    teachers: tuple[int, ...] = eqx.field(static=True)  # shape of a coordinate's target
    noise: StepNoise = StepNoise()

    def init_rows(self, normals: Float[Array, "dim normals"], w_star: TeacherRows) -> ThetaRows:
        """Start of all coordinates."""
        # Numbers given coordinate by coordinate go along with the coordinates, all others are the same for each.
        axes = (coordinate_axes(self.init), 0, -1)
        rowwise = lambda init, normals, w_star: init(normals, w_star)
        return eqx.filter_vmap(rowwise, in_axes=axes, out_axes=-1)(self.init, normals, w_star)

    def readout_rows(self, t: Scalar, theta: ThetaRows) -> OutputRows:
        """Weights of all coordinates."""
        return jax.vmap(self.readout, in_axes=(None, -1), out_axes=-1)(t, theta)

    def drift_rows(self, t: Scalar, theta: ThetaRows, g: OutputRows) -> ThetaRows:
        """Velocities of all coordinates."""
        return jax.vmap(self.drift, in_axes=(None, -1, -1), out_axes=-1)(t, theta, g)

    def penalty_rows(self, t: Scalar, theta: ThetaRows) -> Coordinates:
        """Regulariser of all coordinates."""
        return jax.vmap(self.penalty, in_axes=(None, -1))(t, theta)


def make_flow(model: Model, task: DataSource, training: Training) -> Flow:
    """Turn a problem into its flow.

    In continuous time a model runs in its `Model.flow_form`: the same weights, better conditioned.
    """
    clock, noise = training.clock, training.noise
    plain = model if clock.in_steps else model.flow_form()
    teachers = task.teachers
    parameters, outputs = _checked_shapes(plain, task.loss, teachers)
    inner = training.extended(plain, parameters)
    if noise.label_std is not None and not task.loss.closes:
        raise ValueError(f"label_noise: given {float(noise.label_std):g}, needs the squared loss; leave it out")
    return Flow(
        init=inner.init,
        readout=inner.weight,
        drift=inner.drift,
        penalty=inner.penalty,
        loss=task.loss,
        clock=clock,
        num_normals=inner.num_normals,
        parameters=parameters if inner is plain else _parameters(inner, teachers),
        outputs=outputs,
        teachers=teachers,
        noise=noise,
    )


Shape = tuple[int, ...]
_CHECKED: dict[Any, tuple[Shape, Shape]] = {}
_PARAMETERS: dict[Any, Shape] = {}
_KNOWING = threading.Lock()
MOST_CHECKED = 1000
"""Kinds that are remembered: a program that goes on making new functions must not go on growing."""


def _checked_shapes(model: Model, loss: Loss, teachers: Shape) -> tuple[Shape, Shape]:
    """Return the shapes of theta and of outputs, checked once for each kind of model and loss: a check traces them."""
    kind = (signature((model, loss)), teachers, is_tracing())  # indices are checked outside of a trace only

    def check() -> tuple[Shape, Shape]:
        parameters, outputs = _check_shapes(model, teachers)
        loss.check(outputs, teachers)
        return parameters, outputs

    return _remembered(_CHECKED, kind, check)


def _parameters(model: Model, teachers: Shape) -> Shape:
    """Return the shape of a coordinate's theta, traced once for each kind of model."""
    start = lambda model: model.init(jnp.zeros(model.num_normals), jnp.zeros(teachers))
    trace = lambda: eqx.filter_eval_shape(start, first_coordinate(model)).shape
    return _remembered(_PARAMETERS, (signature(model), teachers), trace)


def _remembered(known: dict[Any, Any], kind: Any, find: Callable[[], Any]) -> Any:
    """Return what is known of a kind, found once; the oldest is forgotten for the newest. Threads share it."""
    with _KNOWING:
        if kind in known:
            return known[kind]
    found = find()  # outside the lock: it runs functions of the user's
    with _KNOWING:
        while len(known) >= MOST_CHECKED:
            del known[next(iter(known))]
        known[kind] = found
    return found


def _check_shapes(model: Model, teachers: Shape) -> tuple[Shape, Shape]:
    """Return the shapes of theta and weight, or refuse a model whose functions do not fit together."""

    def coordinate(model: Model) -> tuple[Theta, Output, Theta, Scalar]:
        t = jnp.zeros(())
        theta = model.init(jnp.zeros(model.num_normals), jnp.zeros(teachers))
        w = _one_array("weight", model.weight(t, _one_array("init", theta)))
        return theta, w, model.drift(t, theta, jnp.zeros_like(w)), model.penalty(t, theta)

    words = f"model: given {model!r}, whose functions fail on one coordinate"
    found = called(words, eqx.Partial(coordinate, first_coordinate(model)), indices=is_users(model))
    theta, w, drift, penalty = (jnp.shape(x) for x in found)
    if len(theta) > 1 or len(w) > 1 or drift != theta or penalty != ():
        raise ValueError(
            f"model: given {model!r}, with theta of shape {theta}, weight {w}, drift {drift} and penalty {penalty} for "
            f"one coordinate; needs theta and weight of at most one axis, a drift shaped like theta, a penalty that is "
            f"one number"
        )
    return theta, w


def _one_array(name: str, value: Any) -> Any:
    if not isinstance(value, jax.Array | np.ndarray | np.generic | float | int):
        raise TypeError(f"{name} returns {type(value).__name__}, needs one array, e.g. by jnp.stack([...])")
    if jnp.result_type(value) != jnp.float64:
        raise TypeError(f"{name} returns {jnp.result_type(value)}, needs real numbers of double precision")
    return value
