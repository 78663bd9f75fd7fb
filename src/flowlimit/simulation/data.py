"""Finite-size data: one draw of a task, or a user's data set."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..numerics.streams import Purpose, stream
from ..problem.designs import Design, RowDesign
from ..problem.tasks import DataSource, Task
from ..types import Matrix, PRNGKey, Samples, Scalar, TeacherRows
from .rows import Rows

TeacherSamples = Float[Array, "*teachers samples"]


class Data(eqx.Module):
    """What a run is trained on: labels are f_star + noise. w_star is None where the target is unknown."""

    X: Matrix
    f_star: TeacherSamples
    noise: Samples
    w_star: TeacherRows | None
    noise_var: Scalar
    rows: Rows = eqx.field(static=True)  # which of all samples these are


class Part(eqx.Module):
    """Some of the fields of `Data`; one part is shared by all trials, the other is a trial's own."""

    X: Matrix | None = None
    f_star: TeacherSamples | None = None
    noise: Samples | None = None
    w_star: TeacherRows | None = None
    noise_var: Scalar | None = None


def join(shared: Part, own: Part, rows: Rows | None = None) -> Data:
    """Put the two parts together; these are all rows of X unless others are given."""
    both = eqx.combine(own, shared)
    assert both.X is not None
    fields = {f.name: getattr(both, f.name) for f in dataclasses.fields(Part)}
    return Data(**fields, rows=Rows(both.X.shape[0]) if rows is None else rows)


def shared_data(task: DataSource) -> Part:
    """Return the part of the data that all trials share."""
    X, y, w_star, noise_var = task.known()
    return Part(X, y, None if y is None else jnp.zeros_like(y), w_star, noise_var)


def trial_data(
    task: Task,
    samples: int,
    dim: int,
    key: PRNGKey,
    trial: Int[Array, ""],
    rows: Rows | None = None,
    shared: Part | None = None,
) -> Part:
    """Draw the part of the data that is a trial's own: X unless it is ``shared``, w* and the label noise."""
    rows = Rows(samples) if rows is None else rows
    X = None if shared is None else shared.X
    if X is None:
        X = _design_rows(task.design, stream(key, Purpose.DESIGN, trial), dim, rows)
    w_star = task.target.sample(stream(key, Purpose.TARGET, trial), (dim,))
    noise = task.noise_scale * jax.random.normal(stream(key, Purpose.NOISE, trial), (samples,))
    return Part(None if is_shared(task) else X, w_star @ X.T, rows.take(noise), w_star)


draw_trial = eqx.filter_jit(trial_data)
"""The same, as one program: drawn eagerly, every operation compiles by itself."""


def without_matrix(task: Task) -> Task:
    """Return a task with no matrix of its own: what trials share is on the devices already."""
    matrix = task.known().X
    return task if matrix is None else jax.tree.map(lambda x: jnp.zeros((0, 0)) if x is matrix else x, task)


def _design_rows(design: Design, key: PRNGKey, dim: int, rows: Rows) -> Matrix:
    if rows.parts == 1:
        return design.sample(key, rows.samples, dim)
    if isinstance(design, RowDesign):
        return design.sample_rows(key, rows.samples, dim, rows.first, rows.own)
    every = jax.vmap(rows.take, in_axes=1, out_axes=1)  # a law that knows whole matrices only
    return every(design.sample(key, rows.samples, dim))


def is_shared(task: DataSource) -> bool:
    """Whether all trials see the same matrix X."""
    return task.known().X is not None
