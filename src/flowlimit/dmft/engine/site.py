"""The single site: the weights side's functions of one coordinate, over nodes and paths, with their Jacobians."""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...numerics.compiling import compiled
from ...numerics.devices import put_here
from ...problem.flow import Flow
from ...types import Output, Scalar

POINTS, SAME = 4, 1e-12
"""Random points at which Jacobians of a linear flow must be the same, and up to which rounding."""

Nodes = Float[Array, "nodes"]
NodePaths = Float[Array, "nodes paths"]
TeacherPaths = Float[Array, "*teachers paths"]
NodeTheta = Float[Array, "nodes k paths"]
Root = Float[Array, "paths"] | None
"""Roots of the features' variances; None where all are 1. With them weights are sqrt(s) w, and theta sees sqrt(s) g."""


class Slopes(NamedTuple):
    """Jacobians along paths: A = dp/dg, B = dp/dtheta, C = dw/dtheta, eq. (dmft_general_aux)."""

    A: NodeTheta
    B: Float[Array, "nodes k k paths"]
    C: NodeTheta


class Jacobians(NamedTuple):
    """The same at one time, with an axis for each output."""

    A: Float[Array, "k outputs paths"]
    B: Float[Array, "k k paths"]
    C: Float[Array, "outputs k paths"]


class Site(eqx.Module):
    """A flow's functions of one coordinate, with theta as a vector of k numbers whatever its shape in the model."""

    flow: Flow
    shape: tuple[int, ...] = eqx.field(static=True)

    @property
    def parameters(self) -> int:
        """Number k of parameters per coordinate."""
        return math.prod(self.shape)

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return math.prod(self.flow.outputs)

    def start(self, normals: Float[Array, "paths normals"], w_star: TeacherPaths) -> Float[Array, "k paths"]:
        """Return theta(0) of all paths."""
        theta = self.flow.init_rows(normals, w_star)
        return theta.reshape(-1, w_star.shape[-1])

    def weight(self, t: Nodes, theta: NodeTheta, root: Root) -> NodePaths:
        """Return w_t(theta) at every node."""
        return _times(self._rowwise(lambda t, x: self.flow.readout(t, self._shaped(x)))(t, theta), root)

    def penalty(self, t: Nodes, theta: NodeTheta) -> NodePaths:
        """Return the regulariser at every node."""
        return self._rowwise(lambda t, x: self.flow.penalty(t, self._shaped(x)))(t, theta)

    def drift(self, t: Nodes, theta: NodeTheta, g: NodePaths, root: Root) -> NodeTheta:
        """Return p_t(g, theta) at every node."""
        return jax.vmap(jax.vmap(self._drift, in_axes=(None, -1, -1), out_axes=-1))(t, theta, _times(g, root))

    def slopes(self, t: Nodes, theta: NodeTheta, g: NodePaths, root: Root) -> Slopes:
        """Return the Jacobians at every node, by automatic differentiation."""

        def one(t: Scalar, x: Float[Array, "k"], g: Scalar) -> Slopes:
            B, A = jax.jacfwd(self._drift, argnums=(1, 2))(t, x, g)
            return Slopes(A, B, jax.jacfwd(lambda x: self.flow.readout(t, self._shaped(x)))(x))

        A, B, C = jax.vmap(jax.vmap(one, in_axes=(None, -1, -1), out_axes=-1))(t, theta, _times(g, root))
        return Slopes(_times(A, root), B, _times(C, root))

    def weights(self, t: Scalar, theta: Float[Array, "k paths"], root: Root) -> Float[Array, "outputs paths"]:
        """Return all outputs' weights at one time."""
        w = self.flow.readout_rows(t, theta.reshape(*self.shape, -1))
        return _times(w.reshape(self.outputs, -1), root)

    def move(
        self, t: Scalar, theta: Float[Array, "k paths"], g: Float[Array, "outputs paths"], root: Root
    ) -> Float[Array, "k paths"]:
        """Return p_t(g, theta) at one time, g with an entry for each output."""
        seen = self._outputs(_times(g, root))
        return self.flow.drift_rows(t, theta.reshape(*self.shape, -1), seen).reshape(theta.shape)

    def jacobians(
        self, t: Scalar, theta: Float[Array, "k paths"], g: Float[Array, "outputs paths"], root: Root
    ) -> Jacobians:
        """Return the Jacobians at one time."""

        def one(x: Float[Array, "k"], g: Float[Array, "outputs"]) -> Jacobians:
            drift = lambda x, g: self._drift(t, x, self._outputs(g))
            B, A = jax.jacfwd(drift, argnums=(0, 1))(x, g)
            return Jacobians(A, B, jax.jacfwd(lambda x: self.flow.readout(t, self._shaped(x)).reshape(-1))(x))

        A, B, C = jax.vmap(one, in_axes=-1, out_axes=-1)(theta, _times(g, root))
        return Jacobians(_times(A, root), B, _times(C, root))

    def _outputs(self, g: Float[Array, "outputs ..."]) -> Float[Array, "..."]:
        return g.reshape(*self.flow.outputs, *g.shape[1:])

    def _drift(self, t: Scalar, x: Float[Array, "k"], g: Output) -> Float[Array, "k"]:
        return self.flow.drift(t, self._shaped(x), g).reshape(-1)

    def _shaped(self, x: Float[Array, "k"]) -> Float[Array, "..."]:
        return x.reshape(self.shape)

    @staticmethod
    def _rowwise(function):
        return jax.vmap(jax.vmap(function, in_axes=(None, -1), out_axes=-1))


def _times(values: Float[Array, "*axes paths"], root: Root) -> Float[Array, "*axes paths"]:
    return values if root is None else values * jnp.broadcast_to(root, values.shape)


def is_linear(site: Site) -> bool:
    """Whether drift and weight are linear as far as a few random points tell: it decides how many paths to begin with.

    Matched moments make the limit of a linear flow exact with any number of paths.
    """
    points = np.random.default_rng(0).normal(size=(site.parameters + site.outputs, POINTS))
    found = _jacobians_at(site, put_here(np.array([0.0, 1.0])), put_here(points))
    return all(np.allclose(x, x[..., :1], rtol=SAME, atol=SAME) for x in map(np.asarray, found))


@compiled
def _jacobians_at(site: Site, times: Nodes, points: Float[Array, "numbers paths"]) -> Jacobians:
    theta, g = points[: site.parameters], points[site.parameters :]
    return jax.vmap(lambda t: site.jacobians(t, theta, g, None))(times)


def make_site(flow: Flow) -> Site:
    """Return the single site of a flow."""
    return Site(flow, flow.parameters)
