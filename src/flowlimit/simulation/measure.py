"""What is measured of a run at a saved time. Everything is a mean, so memory does not grow with the steps."""

from collections.abc import Mapping

import jax
import jax.numpy as jnp

from ..problem.flow import Flow
from ..problem.losses import Moments, moments_of
from ..problem.requests import Observables
from ..types import Observable, OutputRows, Scalar, TeacherRows, ThetaRows
from .data import Data
from .noise import OutputSamples, StepKeys, masked, seen_noise


def forward(flow: Flow, data: Data, t: Scalar, theta: ThetaRows) -> tuple[OutputRows, OutputSamples]:
    """Weights w and outputs f = X w, the first of a step's two matrix products."""
    w = flow.readout_rows(t, theta)
    # Weights on the left, here and in `backward`: several models become the rows of one matrix, the fastest layout.
    return w, w @ data.X.T


def backward(flow: Flow, data: Data, f: OutputSamples, keys: StepKeys | None = None) -> OutputRows:
    """Gradient g = X^T l(f) / delta, the second product; eq. (flow_general). Noisy steps need keys."""
    samples, dim = data.rows.samples, data.X.shape[1]
    noise = data.noise if keys is None else seen_noise(flow.noise, data.noise, keys, data.rows)
    residual = jax.vmap(flow.loss.residual, in_axes=-1, out_axes=-1)(f, data.f_star, noise)
    if keys is not None:
        residual = masked(flow.noise, residual, keys, data.rows)
    return data.rows.total((residual * (dim / samples)) @ data.X)


def measure(
    flow: Flow, data: Data, observables: Observables, t: Scalar, theta: ThetaRows, w: OutputRows, f: OutputSamples
) -> Mapping[str, Scalar]:
    """Errors, the loss, norms and the user's observables."""
    labels = (f, data.f_star, data.noise)
    mean = lambda function: data.rows.mean(jax.vmap(function, in_axes=-1)(*labels))
    values = {"train_error": mean(flow.loss.error)}
    if data.w_star is not None:
        values["test_error"] = flow.loss.test_error(_moments(data, w), data.noise_var)
    values["loss"] = mean(flow.loss.loss) + jnp.mean(flow.penalty_rows(t, theta))
    values["norm_1"] = jnp.sum(jnp.abs(w)) / w.shape[-1]
    values["norm_2"] = jnp.sqrt(jnp.sum(w**2) / w.shape[-1])
    for name, function in observables:
        values[name] = _average(function, w, data.w_star)
    return values


def _moments(data: Data, w: OutputRows) -> Moments:
    """Return the moments of outputs on new samples, with the variances of their features."""
    assert data.w_star is not None
    if data.variances is None:
        return moments_of(w, data.w_star)
    root = jnp.sqrt(data.variances)
    times = lambda x: x * jnp.broadcast_to(root, x.shape)
    return moments_of(times(w), times(data.w_star))


def _average(function: Observable, w: OutputRows, w_star: TeacherRows | None) -> Scalar:
    axes = (-1, None if w_star is None else -1)
    values = jax.vmap(function, in_axes=axes)(w, w_star)
    if jnp.shape(values) != w.shape[-1:]:
        raise ValueError(
            f"observables: given a function with values of shape {jnp.shape(values)[1:]} a coordinate, needs one "
            f"number per coordinate, e.g. lambda w, w_star: w * w_star"
        )
    return jnp.mean(values)
