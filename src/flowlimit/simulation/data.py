"""Finite-size data: one draw of a task, or a user's data set."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..numerics.streams import Purpose, stream
from ..problem.designs import MatrixDesign
from ..problem.tasks import Dataset, Task
from ..types import Matrix, PRNGKey, Samples, Scalar, TeacherRows

TeacherSamples = Float[Array, "*teachers samples"]


class Data(eqx.Module):
    """What a run is trained on: labels are f_star + noise. w_star is None where the target is unknown."""

    X: Matrix
    f_star: TeacherSamples
    noise: Samples
    w_star: TeacherRows | None
    noise_var: Scalar


class Part(eqx.Module):
    """Some of the fields of `Data`; one part is shared by all trials, the other is a trial's own."""

    X: Matrix | None = None
    f_star: TeacherSamples | None = None
    noise: Samples | None = None
    w_star: TeacherRows | None = None
    noise_var: Scalar | None = None


def join(shared: Part, own: Part) -> Data:
    """Put the two parts together."""
    fields = eqx.combine(own, shared)
    return Data(**{f.name: getattr(fields, f.name) for f in dataclasses.fields(Data)})


def shared_data(task: Task | Dataset) -> Part:
    """Return the part of the data that all trials share."""
    if isinstance(task, Dataset):
        return Part(task.X, task.y, jnp.zeros_like(task.y), task.w_star, _noise_var(task))
    matrix = task.design.matrix if isinstance(task.design, MatrixDesign) else None
    return Part(matrix, noise_var=_noise_var(task))


def trial_data(task: Task, samples: int, dim: int, key: PRNGKey, trial: Int[Array, ""]) -> Part:
    """Draw the part of the data that is a trial's own: X, w* and the label noise."""
    X = task.design.sample(stream(key, Purpose.DESIGN, trial), samples, dim)
    w_star = task.target.sample(stream(key, Purpose.TARGET, trial), (dim,))
    noise = task.noise_scale * jax.random.normal(stream(key, Purpose.NOISE, trial), (samples,))
    return Part(None if is_shared(task) else X, w_star @ X.T, noise, w_star)


def is_shared(task: Task | Dataset) -> bool:
    """Whether all trials see the same matrix X."""
    return isinstance(task, Dataset) or isinstance(task.design, MatrixDesign)


def _noise_var(task: Task | Dataset) -> Scalar:
    if isinstance(task, Dataset):
        return jnp.zeros(()) if task.noise_var is None else task.noise_var
    return task.error_floor
