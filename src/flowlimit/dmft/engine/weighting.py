"""Weights of the few paths that serve the responses: they make up for what the few have too much or too little of.

A path's response goes with how fast it moves at all. That speed is known on all paths, so the few get weights with
which it, and a bounded function of it, have the averages of all paths: a control variate. Weights change with time as
smoothly as paths do: a jump of them from block to block would be a kick to all paths.
"""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from ...numerics.pathwise import solve_pathwise
from .state import Paths, Total

RIDGE = 1e-8
"""Relative to the largest: functions of numbers that are all alike, as in a linear flow, are one and the same."""


def response_weights(paths: Paths, immediate: Float[Array, "nodes M"]) -> Float[Array, "nodes few"]:
    """Return weights of the few paths, with which functions of the immediate response average as over all paths."""
    few, features = paths.few_probability, response_features(paths, immediate)
    own = features[..., : few.shape[0]]
    square, missing = paths.total((_products(own, few), features @ paths.probability - own @ few))
    return few[None] * (1.0 + _combined(_solve(square, missing), own))


def response_features(paths: Paths, immediate: Float[Array, "nodes M"]) -> Float[Array, "features nodes M"]:
    """Return what the weights match: a constant, the speed of a path, and a bounded function of it."""
    speed = immediate / _size(paths.total(jnp.abs(immediate) @ paths.probability))[:, None]
    bounded = jnp.abs(speed) / (1.0 + jnp.abs(speed))  # powers would have weights of either sign in heavy tails
    return jnp.stack([jnp.ones_like(speed), speed, bounded])


def residual(
    features: Float[Array, "features nodes n"], values: Float[Array, "nodes n"], weight: Float[Array, "n"], total: Total
) -> Float[Array, "nodes n"]:
    """Return what a weighted regression on the features leaves of values, node by node."""
    square, right = total((_products(features, weight), (features * values[None]) @ weight))
    return values - _combined(_solve(square, right), features)


def _products(features: Float[Array, "features nodes n"], weight: Float[Array, "n"]) -> Float[Array, "all all nodes"]:
    return (features[:, None] * features[None]) @ weight


def _combined(factors: Float[Array, "features nodes"], features: Float[Array, "features nodes n"]):
    return jnp.sum(factors[:, :, None] * features, axis=0)


def _solve(
    square: Float[Array, "features features nodes"], right: Float[Array, "features nodes"]
) -> Float[Array, "features nodes"]:
    count = len(right)
    norm = _size(jnp.sqrt(lax.stop_gradient(jnp.stack([square[i, i] for i in range(count)]))))
    matrix = square / norm[:, None] / norm[None] + RIDGE * jnp.eye(count)[:, :, None]
    return solve_pathwise(matrix, (right / norm)[:, None])[:, 0] / norm


def _size(values: Float[Array, "..."]) -> Float[Array, "..."]:
    """Return sizes to divide by, which cancel: where there is nothing 1, and nothing to differentiate."""
    return lax.stop_gradient(jnp.where(values > 0.0, values, 1.0))
