"""Finite-size data: one draw of a task, or a user's data set."""

import dataclasses
from typing import Any, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..numerics.balanced import balanced_normals
from ..numerics.compiling import compiled
from ..numerics.streams import Purpose, stream
from ..problem.designs import Design, RowDesign
from ..problem.tasks import DataSource, Task
from ..types import Coordinates, Matrix, PRNGKey, Samples, Scalar, TeacherRows
from ..words import Draws
from .rows import Rows

BALANCED: Draws = "balanced"
Strata = Int[Array, "dim"]
TeacherSamples = Float[Array, "*teachers samples"]


class Data(eqx.Module):
    """What a run is trained on: labels are f_star + noise. w_star is None where the target is unknown.

    ``strata`` says which coordinates are alike, for initialisations with their law's composition; None: plain draws.
    """

    X: Matrix
    f_star: TeacherSamples
    noise: Samples
    w_star: TeacherRows | None
    noise_var: Scalar
    strata: Strata | None
    variances: Coordinates | None  # of the features; None where all are 1
    rows: Rows = eqx.field(static=True)  # which of all samples these are


class Part(eqx.Module):
    """Some of the fields of `Data`; one part is shared by all trials, the other is a trial's own."""

    X: Matrix | None = None
    f_star: TeacherSamples | None = None
    noise: Samples | None = None
    w_star: TeacherRows | None = None
    noise_var: Scalar | None = None
    strata: Strata | None = None
    variances: Coordinates | None = None


def checked_draws(draws: Any) -> Draws:
    """Return one of the two words, or refuse."""
    if draws not in get_args(Draws):
        raise ValueError(f"draws: given {draws!r}, needs {' or '.join(map(repr, get_args(Draws)))}")
    return draws


def join(shared: Part, own: Part, rows: Rows | None = None) -> Data:
    """Put the two parts together; these are all rows of X unless others are given."""
    both = eqx.combine(own, shared)
    assert both.X is not None
    fields = {f.name: getattr(both, f.name) for f in dataclasses.fields(Part)}
    return Data(**fields, rows=Rows(both.X.shape[0]) if rows is None else rows)


def shared_data(task: DataSource, draws: Draws = BALANCED) -> Part:
    """Return the part of the data that all trials share."""
    X, y, w_star, noise_var, variances = task.known()
    if y is None:
        return Part(X, w_star=w_star, noise_var=noise_var, variances=variances)
    assert X is not None  # labels are those of rows
    alike = jnp.zeros(X.shape[1], dtype=int) if draws == BALANCED else None
    return Part(X, y, jnp.zeros_like(y), w_star, noise_var, alike, variances)


def trial_data(
    task: Task,
    samples: int,
    dim: int,
    key: PRNGKey,
    trial: Int[Array, ""],
    rows: Rows | None = None,
    shared: Part | None = None,
    draws: Draws = BALANCED,
) -> Part:
    """Draw the part of the data that is a trial's own: X unless it is ``shared``, w* and the label noise."""
    rows = Rows(samples) if rows is None else rows
    X = None if shared is None else shared.X
    if X is None:
        X = _design_rows(task.design, stream(key, Purpose.DESIGN, trial), dim, rows)
    target, noise = (stream(key, purpose, trial) for purpose in (Purpose.TARGET, Purpose.NOISE))
    w_star, variances, strata = _coordinates(task, target, dim, draws)
    if variances is not None:
        X = X * jnp.sqrt(variances)[None]
    if draws == BALANCED:
        normals = balanced_normals(noise, jnp.zeros(samples, dtype=int), 1)[:, 0]
    else:
        normals = jax.random.normal(noise, (samples,))
    own = None if is_shared(task) else X
    return Part(own, w_star @ X.T, rows.take(task.noise_scale * normals), w_star, strata=strata, variances=variances)


def _coordinates(
    task: Task, key: PRNGKey, dim: int, draws: Draws
) -> tuple[TeacherRows, Coordinates | None, Strata | None]:
    """Draw w* and the variances of the features; ``strata`` says which coordinates are alike, if draws are balanced."""
    features = task.feature_law
    if draws == BALANCED:
        if features is not None:
            return features.balanced_features(key, dim)
        w_star, strata = task.law.balanced(key, dim)
        return w_star, None, strata
    if features is not None:
        return *features.independent_features(key, dim), None
    return task.law.sample(key, (dim,)), None, None


draw_trial = compiled(trial_data)
"""The same, as one program: drawn eagerly, every operation compiles by itself."""


def without_matrix(task: Task) -> Task:
    """Return a task without its matrix: what trials share is on the devices already."""
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
