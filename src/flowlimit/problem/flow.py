"""The one internal noun: a flow, made from (model, task, training). Simulator and solver see only this.

It is the paper's general flow, eq. (flow_general), row by row:

    theta' = drift_t(theta, g),    g = X^T residual(f) / delta,    f = X readout_t(theta),

in continuous time, or theta_{i+1} = theta_i + step_size drift for a clock that runs in steps.
"""

from collections.abc import Callable

import equinox as eqx
import jax
from jaxtyping import Array, Float

from ..types import Coordinates, Scalar, Theta, ThetaRows
from .losses import Loss
from .models.diagonal import mirrored
from .models.model import Model
from .models.scales import PerCoordinate
from .tasks import Dataset, Task
from .trainings import Clock, ContinuousClock, Training


class Flow(eqx.Module):
    """Functions of one coordinate (init, readout, drift, penalty), of one sample (loss), and a clock."""

    init: Callable[..., Theta]
    readout: Callable[..., Scalar]
    drift: Callable[..., Theta]
    penalty: Callable[..., Scalar]
    loss: Loss
    clock: Clock
    num_normals: int = eqx.field(static=True)

    def init_rows(self, normals: Float[Array, "dim normals"], w_star: Coordinates) -> ThetaRows:
        """Start of all coordinates."""
        # Numbers given coordinate by coordinate go along with the coordinates, all others are the same for each.
        given = lambda leaf: isinstance(leaf, PerCoordinate)
        axes = jax.tree.map(lambda leaf: 0 if given(leaf) else None, self.init, is_leaf=given)
        rowwise = lambda init, normals, w_star: init(normals, w_star)
        return eqx.filter_vmap(rowwise, in_axes=(axes, 0, 0), out_axes=-1)(self.init, normals, w_star)

    def readout_rows(self, t: Scalar, theta: ThetaRows) -> Coordinates:
        """Weights of all coordinates."""
        return jax.vmap(self.readout, in_axes=(None, -1), out_axes=-1)(t, theta)

    def drift_rows(self, t: Scalar, theta: ThetaRows, g: Coordinates) -> ThetaRows:
        """Velocities of all coordinates."""
        return jax.vmap(self.drift, in_axes=(None, -1, -1), out_axes=-1)(t, theta, g)

    def penalty_rows(self, t: Scalar, theta: ThetaRows) -> Coordinates:
        """Regulariser of all coordinates."""
        return jax.vmap(self.penalty, in_axes=(None, -1))(t, theta)


def make_flow(model: Model, task: Task | Dataset, training: Training) -> Flow:
    """Turn a problem into its flow.

    In continuous time a model runs in its mirror coordinate if it has one: the same weights, better conditioned.
    """
    clock = training.clock
    inner = mirrored(model) if isinstance(clock, ContinuousClock) else model
    return Flow(
        init=inner.init,
        readout=inner.weight,
        drift=inner.drift,
        penalty=inner.penalty,
        loss=task.loss,
        clock=clock,
        num_normals=inner.num_normals,
    )
