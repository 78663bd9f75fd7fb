"""A flow that carries tangents: theta and ``count`` tangents of it, moved by one matrix product for all."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...problem.flow import Flow
from ...types import OutputRows, Scalar, ThetaRows
from ..data import Data

Theta = Float[Array, "states *parameters"]
Output = Float[Array, "states"]
Kick = Float[Array, "count samples"]
StateRows = Float[Array, "states *parameters dim"]
"""Theta of all coordinates, and its tangents."""
Outputs = Float[Array, "states samples"]


class Pushed(eqx.Module):
    """One coordinate's readout and drift beside their derivatives along tangents, by automatic differentiation."""

    flow: Flow

    def readout(self, t: Scalar, theta: Theta) -> Output:
        """Return the weight, and how it moves with each tangent."""
        w, push = jax.linearize(lambda x: self.flow.readout(t, x), theta[0])
        return jnp.concatenate([w[None], jax.vmap(push)(theta[1:])])

    def drift(self, t: Scalar, theta: Theta, g: Output) -> Theta:
        """Return the velocity, and those of the tangents."""
        velocity, push = jax.linearize(lambda x, y: self.flow.drift(t, x, y), theta[0], g[0])
        return jnp.concatenate([velocity[None], jax.vmap(push)(theta[1:], g[1:])])


def with_tangents(flow: Flow, count: int) -> Flow:
    """Return the flow of theta and its tangents, as a model with 1 + ``count`` outputs."""
    pushed = Pushed(flow)
    shape = (1 + count, *flow.parameters)
    return dataclasses.replace(flow, readout=pushed.readout, drift=pushed.drift, parameters=shape, outputs=(1 + count,))


def at_rest(theta: ThetaRows, count: int) -> StateRows:
    """Return theta with ``count`` tangents that are zero."""
    return jnp.concatenate([theta[None], jnp.zeros((count, *theta.shape))])


def residuals(data: Data, f: Outputs) -> Outputs:
    """Return the residuals of the squared loss, and how they move with each tangent."""
    return f.at[0].add(-(data.f_star + data.noise))


def gradients(data: Data, residual: Outputs, kick: Kick) -> OutputRows:
    """Return g = X^T r / delta, and its tangents, whose residuals are kicked."""
    samples, dim = data.X.shape
    return (residual.at[1:].add(kick) * (dim / samples)) @ data.X


def label_size(data: Data) -> Scalar:
    """Return the root mean square of the labels, the size of a kick: tangents are then as large as the weights."""
    return jnp.sqrt(jnp.mean((data.f_star + data.noise) ** 2))
