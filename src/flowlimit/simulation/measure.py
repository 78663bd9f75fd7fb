"""What is measured of a run at a saved time. Everything is a mean, so memory does not grow with the steps."""

from collections.abc import Mapping

import jax
import jax.numpy as jnp

from ..problem.flow import Flow
from ..problem.losses import moments_of
from ..problem.requests import Observables
from ..types import Coordinates, Observable, Samples, Scalar, ThetaRows
from .data import Data


def forward(flow: Flow, data: Data, t: Scalar, theta: ThetaRows) -> tuple[Coordinates, Samples]:
    """Weights w and outputs f = X w, the first of a step's two matrix products."""
    w = flow.readout_rows(t, theta)
    # Weights on the left, here and in `backward`: several models become the rows of one matrix, the fastest layout.
    return w, w @ data.X.T


def backward(flow: Flow, data: Data, f: Samples) -> Coordinates:
    """Gradient g = X^T l(f) / delta, the second product; eq. (flow_general)."""
    samples, dim = data.X.shape
    residual = jax.vmap(flow.loss.residual)(f, data.f_star, data.noise)
    return (residual * (dim / samples)) @ data.X


def measure(
    flow: Flow, data: Data, observables: Observables, t: Scalar, theta: ThetaRows, w: Coordinates, f: Samples
) -> Mapping[str, Scalar]:
    """Errors, the loss, norms and the user's observables."""
    labels = (f, data.f_star, data.noise)
    values = {"train_error": jnp.mean(jax.vmap(flow.loss.error)(*labels))}
    if data.w_star is not None:
        values["test_error"] = flow.loss.test_error(moments_of(w, data.w_star), data.noise_var)
    values["loss"] = jnp.mean(jax.vmap(flow.loss.loss)(*labels)) + jnp.mean(flow.penalty_rows(t, theta))
    values["norm_1"] = jnp.mean(jnp.abs(w))
    values["norm_2"] = jnp.sqrt(jnp.mean(w**2))
    for name, function in observables:
        values[name] = _average(function, w, data.w_star)
    return values


def _average(function: Observable, w: Coordinates, w_star: Coordinates | None) -> Scalar:
    axes = (0, None if w_star is None else 0)
    values = jax.vmap(function, in_axes=axes)(w, w_star)
    if jnp.shape(values) != w.shape:
        raise ValueError(
            f"observables: given a function with values of shape {jnp.shape(values)[1:]} a coordinate, needs one "
            f"number a coordinate, e.g. lambda w, w_star: w * w_star"
        )
    return jnp.mean(values)
