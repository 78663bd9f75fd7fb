"""Designs: how the data matrix X, samples x dim, is drawn. Entries have mean 0 and variance 1/dim.

Random designs are drawn row by row, each row from its own stream: the matrix does not depend on how the work is split,
and memory stays at the matrix itself.
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..types import Coordinates, Matrix, PRNGKey, Scalar, is_traced
from .checks import as_float, instance, number
from .laws import Law
from .noun import Noun, data_field

ROWS_AT_ONCE = 64


class Design(Noun):
    """A law of data matrices.

    A subclass must write one method: ``sample(key, samples, dim)`` -> a matrix of shape (samples, dim).

    The limit is known for independent entries of mean 0 and variance 1/dim with light tails. A design of your own that
    draws such entries says so by a property ``has_limit`` that returns True; every other one is for `simulate`.
    """

    @property
    def has_limit(self) -> bool:
        """Whether entries are independent, of mean 0 and variance 1/dim, so that Gaussian data have the same limit."""
        return False

    @property
    def fixed_matrix(self) -> Matrix | None:
        """The matrix, of shape (samples, dim), if it is the same in every trial; None if it is drawn."""
        return None

    @abc.abstractmethod
    def sample(self, key: PRNGKey, samples: int, dim: int) -> Matrix:
        """Return one matrix of shape (samples, dim)."""


class RowDesign(Design):
    """A law of matrices with independent rows, each drawn from a separate stream: a device can draw its rows alone.

    A subclass must write one method: ``draw_row(key, dim)`` -> one row, of shape (dim,).
    """

    @abc.abstractmethod
    def draw_row(self, key: PRNGKey, dim: int) -> Coordinates:
        """Return one row."""

    def sample(self, key: PRNGKey, samples: int, dim: int) -> Matrix:
        """Return one matrix of shape (samples, dim)."""
        return self.sample_rows(key, samples, dim, jnp.zeros((), int), samples)

    def sample_rows(self, key: PRNGKey, samples: int, dim: int, first: Int[Array, ""], rows: int) -> Matrix:
        """Return ``rows`` rows of the same matrix from the row ``first`` on; beyond its last row they are 0.

        Filled block by block, in place; the last block may go over rows of the one before: the same rows.
        """
        at_once = min(ROWS_AT_ONCE, rows)

        def fill(block: Int[Array, ""], matrix: Matrix) -> Matrix:
            start = jnp.minimum(block * at_once, rows - at_once)
            place = first + start + jnp.arange(at_once)
            drawn = jax.vmap(lambda row: self.draw_row(jax.random.fold_in(key, row), dim))(place)
            drawn = drawn if rows == samples else jnp.where((place < samples)[:, None], drawn, 0.0)
            return jax.lax.dynamic_update_slice_in_dim(matrix, drawn, start, axis=0)

        return jax.lax.fori_loop(0, -(-rows // at_once), fill, jnp.zeros((rows, dim)))


class IndependentEntries(RowDesign):
    """What designs with independent entries share: the limit of Gaussian data is theirs too."""

    @property
    def has_limit(self) -> bool:
        """Entries are independent, of mean 0 and variance 1/dim."""
        return True


class GaussianDesign(IndependentEntries):
    """Independent entries N(0, 1/dim): the paper's data.

    Examples
    --------
    >>> import jax, flowlimit as fl
    >>> fl.GaussianDesign().sample(jax.random.key(0), 3, 5).shape
    (3, 5)
    """

    def draw_row(self, key: PRNGKey, dim: int) -> Coordinates:
        """Return one row."""
        return jax.random.normal(key, (dim,)) / np.sqrt(dim)


class BinaryDesign(IndependentEntries):
    """Independent entries +1/sqrt(dim) or -1/sqrt(dim)."""

    def draw_row(self, key: PRNGKey, dim: int) -> Coordinates:
        """Return one row."""
        return jax.random.rademacher(key, (dim,), dtype=jnp.float64) / np.sqrt(dim)


class StudentDesign(IndependentEntries):
    """Independent entries of Student's law, scaled to variance 1/dim: heavy tails, heavier with fewer degrees.

    Limits are the same as for Gaussian data while the variance is finite, but they come slowly: squares of a column
    add up to its mean within samples^(2/degrees - 1) only.

    Examples
    --------
    >>> import jax, flowlimit as fl
    >>> fl.StudentDesign(3.0).sample(jax.random.key(0), 3, 5).shape
    (3, 5)
    """

    degrees: Scalar = eqx.field(converter=number("degrees", above=2.0, example=3.0))

    def draw_row(self, key: PRNGKey, dim: int) -> Coordinates:
        """Return one row."""
        return jax.random.t(key, self.degrees, (dim,)) * jnp.sqrt((self.degrees - 2.0) / (self.degrees * dim))


class IIDDesign(IndependentEntries):
    """Independent entries of any law, shifted and scaled to mean 0 and variance 1/dim."""

    law: Law = eqx.field(converter=instance("law", Law, "fl.SparseRademacher(0.1)"))

    def __check_init__(self) -> None:
        variance = self.law.second_moment - self.law.mean**2
        if not is_traced(variance) and not variance > 1e-12 * self.law.second_moment:
            raise ValueError(f"law: given {self.law!r} of variance 0, needs a law that varies, e.g. fl.Normal()")

    def draw_row(self, key: PRNGKey, dim: int) -> Coordinates:
        """Return one row."""
        mean = self.law.mean
        scale = jnp.sqrt((self.law.second_moment - mean**2) * dim)
        return (self.law.sample(key, (dim,)) - mean) / scale


class MatrixDesign(Design):
    """A user's matrix, the same in every trial; targets and noise are still drawn from the task.

    The matrix is used as it is, so that it has no limit: it is for `simulate`.
    """

    matrix: Matrix = data_field(lambda matrix: as_matrix("matrix", matrix))

    @property
    def fixed_matrix(self) -> Matrix:
        """The matrix."""
        return self.matrix

    def sample(self, key: PRNGKey, samples: int, dim: int) -> Matrix:
        """Return the matrix."""
        return self.matrix


def as_matrix(name: str, value: object) -> Float[Array, "samples dim"]:
    """Convert to a float64 matrix of finite numbers, or refuse by name."""
    fix = "needs a matrix of shape (samples, dim)"
    matrix = as_float(name, value, fix)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(f"{name}: given shape {matrix.shape}, {fix}")
    if not is_traced(matrix) and not bool(jnp.isfinite(matrix).all()):
        raise ValueError(f"{name}: given entries that are not finite; impute or drop them first")
    return matrix
