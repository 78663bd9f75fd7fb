"""What a training in steps adds to a model: a velocity, and a schedule of its weight decay."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..types import Normals, Output, Scalar, Teacher, Theta
from .clocks import Schedule
from .models.model import Model


class Momentum(Model):
    """A model with a velocity v beside theta, both in one vector: v' = momentum v + p, then theta moves by v'.

    Nesterov's step moves theta by p + momentum v'. Gradients are taken at theta.
    """

    inner: Model
    momentum: Scalar
    size: Schedule
    nesterov: bool = eqx.field(static=True)
    shape: tuple[int, ...] = eqx.field(static=True)  # of the model's theta

    @property
    def num_normals(self) -> int:
        """As of the model."""
        return self.inner.num_normals

    def init(self, normals: Normals, w_star: Teacher) -> Theta:
        """Return a state at rest."""
        theta = self.inner.init(normals, w_star)
        return jnp.stack([theta, jnp.zeros_like(theta)]).reshape(-1)

    def weight(self, t: Scalar, theta: Theta) -> Output:
        """Return the model's weight."""
        return self.inner.weight(t, self._parts(theta)[0])

    def drift(self, t: Scalar, theta: Theta, g: Output) -> Theta:
        """Return what a step adds to (theta, v), over the step size."""
        x, v = self._parts(theta)
        p = self.inner.drift(t, x, g)
        faster = self.momentum * v + p
        move = p + self.momentum * faster if self.nesterov else faster
        return jnp.stack([move, (faster - v) / self.size.at(t)]).reshape(-1)

    def penalty(self, t: Scalar, theta: Theta) -> Scalar:
        """Return the model's penalty."""
        return self.inner.penalty(t, self._parts(theta)[0])

    def _parts(self, theta: Theta) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
        x, v = theta.reshape(2, *self.shape)
        return x, v


class ScheduledDecay(Model):
    """A model whose weight decay is multiplied by a factor at each step."""

    inner: Model
    factor: Schedule

    @property
    def num_normals(self) -> int:
        """As of the model."""
        return self.inner.num_normals

    def init(self, normals: Normals, w_star: Teacher) -> Theta:
        """Start as the model does."""
        return self.inner.init(normals, w_star)

    def weight(self, t: Scalar, theta: Theta) -> Output:
        """Return the model's weight."""
        return self.inner.weight(t, theta)

    def drift(self, t: Scalar, theta: Theta, g: Output) -> Theta:
        """Move with the decay of this step."""
        return self._at(t).drift(t, theta, g)

    def penalty(self, t: Scalar, theta: Theta) -> Scalar:
        """Return the penalty with the decay of this step."""
        return self._at(t).penalty(t, theta)

    def _at(self, t: Scalar) -> Model:
        factor = self.factor.at(t)
        return eqx.tree_at(lambda model: model.weight_decay, self.inner, replace_fn=lambda decay: factor * decay)
