"""Weights of the few paths that serve the responses: they make up for what the few have too much or too little of.

A path's response goes with how fast it moves at all. That speed is known on all paths, so the few get weights with
which it, and a bounded function of it, have the averages of all paths: a control variate. Weights change with time as
smoothly as paths do: a jump of them from block to block would be a kick to all paths.
"""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from .state import Paths, Total

RIDGE = 1e-8
"""Relative to the largest: functions of numbers that are all alike, as in a linear flow, are one and the same."""


def response_weights(paths: Paths, immediate: Float[Array, "M"]) -> Float[Array, "few"]:
    """Return weights of the few paths, with which functions of the immediate response average as over all paths."""
    few, features = paths.few_probability, response_features(paths, immediate)
    own = features[:, : few.shape[0]]
    square, missing = paths.total(((own * few[None]) @ own.T, features @ paths.probability - own @ few))
    return few * (1.0 + _solve(square, missing) @ own)


def response_features(paths: Paths, immediate: Float[Array, "M"]) -> Float[Array, "features M"]:
    """Return what the weights match: a constant, the speed of a path, and a bounded function of it."""
    speed = immediate / _size(paths.total(jnp.abs(immediate) @ paths.probability))
    bounded = jnp.abs(speed) / (1.0 + jnp.abs(speed))  # powers would have weights of either sign in heavy tails
    return jnp.stack([jnp.ones_like(speed), speed, bounded])


def residual(
    features: Float[Array, "features n"], values: Float[Array, "n"], weight: Float[Array, "n"], total: Total
) -> Float[Array, "n"]:
    """Return what a weighted regression on the features leaves of values."""
    square, with_values = total(((features * weight[None]) @ features.T, (features * weight[None]) @ values))
    return values - _solve(square, with_values) @ features


def _solve(square: Float[Array, "features features"], right: Float[Array, "features"]) -> Float[Array, "features"]:
    norm = _size(jnp.sqrt(jnp.diagonal(lax.stop_gradient(square))))
    matrix = square / norm[:, None] / norm[None] + RIDGE * jnp.eye(len(norm))
    return jnp.linalg.solve(matrix, right / norm) / norm


def _size(values: Float[Array, "*features"]) -> Float[Array, "*features"]:
    """Return sizes to divide by, which cancel: where there is nothing 1, and nothing to differentiate."""
    return lax.stop_gradient(jnp.where(values > 0.0, values, 1.0))
