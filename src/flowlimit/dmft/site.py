"""The single site: the weights side's functions of one coordinate, over nodes and paths, with their Jacobians."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..problem.flow import Flow
from ..types import Scalar

Nodes = Float[Array, "nodes"]
NodePaths = Float[Array, "nodes paths"]
NodeTheta = Float[Array, "nodes k paths"]


class Slopes(NamedTuple):
    """Jacobians along paths: A = dp/dg, B = dp/dtheta, C = dw/dtheta, eq. (dmft_general_aux)."""

    A: NodeTheta
    B: Float[Array, "nodes k k paths"]
    C: NodeTheta


class Site(eqx.Module):
    """A flow's functions of one coordinate, with theta as a vector of k numbers whatever its shape in the model."""

    flow: Flow
    shape: tuple[int, ...] = eqx.field(static=True)

    def start(self, normals: Float[Array, "paths normals"], w_star: Float[Array, "paths"]) -> Float[Array, "k paths"]:
        """Return theta(0) of all paths."""
        theta = self.flow.init_rows(normals, w_star)
        return theta.reshape(-1, w_star.shape[0])

    def weight(self, t: Nodes, theta: NodeTheta) -> NodePaths:
        """Return w_t(theta) at every node."""
        return self._rowwise(lambda t, x: self.flow.readout(t, self._shaped(x)))(t, theta)

    def penalty(self, t: Nodes, theta: NodeTheta) -> NodePaths:
        """Return the regulariser at every node."""
        return self._rowwise(lambda t, x: self.flow.penalty(t, self._shaped(x)))(t, theta)

    def drift(self, t: Nodes, theta: NodeTheta, g: NodePaths) -> NodeTheta:
        """Return p_t(g, theta) at every node."""
        return jax.vmap(jax.vmap(self._drift, in_axes=(None, -1, -1), out_axes=-1))(t, theta, g)

    def slopes(self, t: Nodes, theta: NodeTheta, g: NodePaths) -> Slopes:
        """Return the Jacobians at every node, by automatic differentiation."""

        def one(t: Scalar, x: Float[Array, "k"], g: Scalar) -> Slopes:
            B, A = jax.jacfwd(self._drift, argnums=(1, 2))(t, x, g)
            return Slopes(A, B, jax.jacfwd(lambda x: self.flow.readout(t, self._shaped(x)))(x))

        return jax.vmap(jax.vmap(one, in_axes=(None, -1, -1), out_axes=-1))(t, theta, g)

    def _drift(self, t: Scalar, x: Float[Array, "k"], g: Scalar) -> Float[Array, "k"]:
        return self.flow.drift(t, self._shaped(x), g).reshape(-1)

    def _shaped(self, x: Float[Array, "k"]) -> Float[Array, "..."]:
        return x.reshape(self.shape)

    @staticmethod
    def _rowwise(function):
        return jax.vmap(jax.vmap(function, in_axes=(None, -1), out_axes=-1))


def make_site(flow: Flow) -> Site:
    """Return the single site of a flow."""
    start = jax.eval_shape(flow.init, jnp.zeros(flow.num_normals), jnp.zeros(()))
    return Site(flow, tuple(start.shape))
