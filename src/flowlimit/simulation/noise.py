"""The noise of a step at finite size: batches, fresh labels, kicks. Models of a group share it, as they share data."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..numerics.streams import Purpose, stream
from ..problem.clocks import StepNoise
from ..types import PRNGKey, Samples, Scalar, ThetaRows
from .rows import Rows

OutputSamples = Float[Array, "*outputs samples"]
MASK, LABELS, KICK = range(3)


class StepKeys(NamedTuple):
    """Keys of a trial's noise: of all steps, and of one."""

    every: PRNGKey
    own: PRNGKey


def step_keys(key: PRNGKey, step: Int[Array, ""]) -> StepKeys:
    """Return the keys of a step."""
    return StepKeys(key, jax.random.fold_in(key, step))


def masked(noise: StepNoise, residual: OutputSamples, keys: StepKeys, rows: Rows | None = None) -> OutputSamples:
    """Return the residuals of a batch, over its share, 0 elsewhere; ``rows`` says which of all samples these are."""
    if noise.batch_fraction is None:
        return residual
    rows = Rows(residual.shape[-1]) if rows is None else rows
    key = jax.random.fold_in(keys.own, MASK) if not noise.persistent else stream(keys.every, Purpose.STEPS)
    seen = jax.random.uniform(key, (rows.samples,)) < noise.batch_fraction
    share = rows.take(jnp.where(seen, 1.0 / noise.batch_fraction, 0.0))
    return residual * jnp.broadcast_to(share, residual.shape)


def seen_noise(noise: StepNoise, labels: Samples, keys: StepKeys, rows: Rows | None = None) -> Samples:
    """Return the label noise that a step sees."""
    if noise.label_std is None:
        return labels
    rows = Rows(len(labels)) if rows is None else rows
    fresh = jax.random.normal(jax.random.fold_in(keys.own, LABELS), (rows.samples,))
    return labels + noise.label_std * rows.take(fresh)


def kick(noise: StepNoise, size: Scalar, theta: ThetaRows, keys: StepKeys) -> ThetaRows:
    """Return what a step of that size adds at random."""
    if noise.temperature is None:
        return jnp.zeros_like(theta)
    normals = jax.random.normal(jax.random.fold_in(keys.own, KICK), theta.shape)
    return jnp.sqrt(2.0 * noise.temperature * size) * normals
