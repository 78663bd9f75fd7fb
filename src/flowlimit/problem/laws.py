"""Laws of one number, for targets, initialisations and designs alike.

Every law here is a finite mixture of atoms and Gaussians, so that one method, `strata`, says all: sampling, moments,
quadrature and the strata in which the solver matches moments follow from it.
"""

import abc
import math
from dataclasses import KW_ONLY
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..numerics.balanced import balanced_normals, balanced_strata
from ..types import PRNGKey, Scalar
from .checks import instance, integer, number, shown, vector
from .noun import Noun

DRAW_NORMALS = 2
"""Standard normals that one draw of a law takes: one picks the stratum, one is the Gaussian part."""


MOST_TEACHERS, MOST_COMBINATIONS = 16, 4096
"""Of `Independent`: the strata of several teachers are all combinations of the strata of one."""


class Strata(NamedTuple):
    """A mixture: stratum i has a probability and is N(mean, std^2), an atom where std is 0.

    Several numbers are independent within a stratum; they have another axis after the strata.
    """

    probability: Float[Array, "strata"]
    mean: Float[Array, "strata *teachers"]
    std: Float[Array, "strata *teachers"]

    def given(self, *, zero: bool) -> Float[Array, "strata"]:
        """Return the probabilities given that a draw is exactly 0, or that it is not."""
        chosen = jnp.where(((self.mean == 0.0) & (self.std == 0.0)) == zero, self.probability, 0.0)
        return chosen / jnp.sum(chosen)


class Target(Noun):
    """The law of one coordinate of the teacher: one number, or one for each of several teachers.

    `Law` is the base for one number. A subclass for several must write four methods:

    - ``shape`` (property) -> the shape of a draw, ``(teachers,)``.
    - ``strata()`` -> `Strata`, whose ``mean`` and ``std`` have shape ``(strata, teachers)``.
    - ``draw(normals)`` -> one draw, of shape ``(teachers,)``, from ``draw_normals`` standard normals.
    - ``sample(key, shape)`` -> independent draws, of shape ``(teachers, *shape)``.
    """

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of a draw: ``()`` for one number."""

    @property
    def draw_normals(self) -> int:
        """Standard normals that one draw takes."""
        return DRAW_NORMALS * math.prod(self.shape)

    @abc.abstractmethod
    def strata(self) -> Strata:
        """Return the law as a mixture of atoms and Gaussians."""

    @abc.abstractmethod
    def draw(self, normals: Float[Array, "normals"]) -> Float[Array, "*teachers"]:
        """Return one draw, made from standard normals."""

    @abc.abstractmethod
    def sample(self, key: PRNGKey, shape: tuple[int, ...]) -> Float[Array, "..."]:
        """Independent draws, on the last axes."""

    def balanced(self, key: PRNGKey, count: int) -> tuple[Float[Array, "*teachers count"], Int[Array, "count"]]:
        """Draws with the law's composition (`numerics/balanced.py`), and the stratum that each of them is from."""
        probability, mean, std = self.strata()
        first, second = jax.random.split(key)
        strata = balanced_strata(first, probability, count)
        normals = balanced_normals(second, strata, math.prod(self.shape)).reshape(count, *self.shape)
        return jnp.moveaxis(mean[strata] + std[strata] * normals, 0, -1), strata


class Quadrature(NamedTuple):
    """Nodes and weights with sum(weights * f(nodes)) = E[f]."""

    nodes: Float[Array, "nodes"]
    weights: Float[Array, "nodes"]


class Law(Target):
    """The law of one number.

    A subclass must write one method: ``strata()`` -> `Strata`, the law as a mixture of atoms and Gaussians, whose three
    arrays ``probability`` (summing to 1), ``mean`` and ``std`` have shape ``(strata,)``.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """One number."""
        return ()

    @property
    def mean(self) -> Scalar:
        """First moment."""
        probability, mean, _ = self.strata()
        return jnp.sum(probability * mean)

    @property
    def second_moment(self) -> Scalar:
        """Second moment; of a target, the paper's rho^2.

        Examples
        --------
        >>> import flowlimit as fl
        >>> float(fl.SparseRademacher(0.5, value=2.0).second_moment)
        2.0
        """
        probability, mean, std = self.strata()
        return jnp.sum(probability * (mean**2 + std**2))

    @property
    def signal(self) -> Scalar:
        """Variance of the teacher's output: the second moment, since features have variance 1."""
        return self.second_moment

    def variances(self) -> Float[Array, "strata"]:
        """Variances of the features in each stratum: 1."""
        return jnp.ones_like(self.strata().probability)

    def draw(self, normals: Float[Array, "normals"]) -> Scalar:
        """Return one draw, made from two standard normals."""
        probability, mean, std = self.strata()
        stratum = stratum_of(probability, normals[0])
        return mean[stratum] + std[stratum] * normals[1]

    def sample(self, key: PRNGKey, shape: tuple[int, ...]) -> Float[Array, "..."]:
        """Independent draws."""
        normals = jax.random.normal(key, (int(np.prod(shape)), DRAW_NORMALS))
        return jax.vmap(self.draw)(normals).reshape(shape)

    def quadrature(self, order: int = 32) -> Quadrature:
        """Gauss-Hermite nodes in the Gaussian strata, atoms as they are (all their nodes coincide).

        Exact for polynomials up to degree ``2 order - 1``.
        """
        order = integer("order", at_least=1, at_most=256, example=32)(order)  # beyond, weights underflow
        probability, mean, std = self.strata()
        nodes, weights = np.polynomial.hermite_e.hermegauss(order)
        weights = weights / weights.sum()
        x = mean[:, None] + std[:, None] * jnp.asarray(nodes)[None, :]
        return Quadrature(x.ravel(), (probability[:, None] * jnp.asarray(weights)[None, :]).ravel())


class Bernoulli(Law):
    """``value`` with the given probability, else 0: the paper's sparse target."""

    probability: Scalar = eqx.field(converter=number("probability", at_least=0.0, at_most=1.0, example=0.1))
    _: KW_ONLY
    value: Scalar = eqx.field(default=1.0, converter=number("value"))

    def strata(self) -> Strata:
        """Two atoms."""
        p = self.probability
        return _strata((1.0 - p, 0.0, 0.0), (p, self.value, 0.0))


class SparseRademacher(Law):
    """``+value`` or ``-value`` with half the given probability each, else 0."""

    probability: Scalar = eqx.field(converter=number("probability", at_least=0.0, at_most=1.0, example=0.1))
    _: KW_ONLY
    value: Scalar = eqx.field(default=1.0, converter=number("value"))

    def strata(self) -> Strata:
        """Three atoms."""
        p = self.probability
        return _strata((1.0 - p, 0.0, 0.0), (p / 2.0, self.value, 0.0), (p / 2.0, -self.value, 0.0))


class BernoulliGauss(Law):
    """N(0, std^2) with the given probability, else 0."""

    probability: Scalar = eqx.field(converter=number("probability", at_least=0.0, at_most=1.0, example=0.1))
    _: KW_ONLY
    std: Scalar = eqx.field(default=1.0, converter=number("std", at_least=0.0))

    def strata(self) -> Strata:
        """One atom and one Gaussian."""
        p = self.probability
        return _strata((1.0 - p, 0.0, 0.0), (p, 0.0, self.std))


class Normal(Law):
    """N(0, std^2)."""

    std: Scalar = eqx.field(default=1.0, converter=number("std", at_least=0.0))

    def strata(self) -> Strata:
        """One Gaussian."""
        return _strata((1.0, 0.0, self.std))


class PointMass(Law):
    """Always ``value``."""

    value: Scalar = eqx.field(converter=number("value"))

    def strata(self) -> Strata:
        """One atom."""
        return _strata((1.0, self.value, 0.0))


class Empirical(Law):
    """The empirical law of given numbers, each with the same probability."""

    values: Float[Array, "entries"] = eqx.field(converter=vector("values"))

    def strata(self) -> Strata:
        """One atom per number."""
        entries = self.values.shape[0]
        return Strata(jnp.full(entries, 1.0 / entries), self.values, jnp.zeros(entries))


class Independent(Target):
    """Independent draws of one law: the weights of ``count`` teachers, for labels made by several.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.Independent(fl.Bernoulli(0.2), count=2).strata().mean.shape
    (4, 2)
    """

    law: Law = eqx.field(converter=instance("law", Law, "fl.Normal()"))
    _: KW_ONLY
    count: int = eqx.field(static=True, converter=integer("count", at_least=1, at_most=MOST_TEACHERS, example=2))

    def __check_init__(self) -> None:
        own = len(self.law.strata().probability)
        if own**self.count > MOST_COMBINATIONS:
            most = max(1, int(math.log(MOST_COMBINATIONS) / math.log(own)))
            raise ValueError(
                f"count: given {self.count} teachers of {shown(self.law)}, all of whose combinations are solved for; "
                f"needs count at most {most} for its {own} strata"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """One number per teacher."""
        return (self.count,)

    def strata(self) -> Strata:
        """All combinations of the law's strata."""
        probability, mean, std = self.law.strata()
        which = np.stack(np.meshgrid(*[np.arange(len(mean))] * self.count, indexing="ij"), axis=-1)
        which = which.reshape(-1, self.count)
        return Strata(jnp.prod(probability[which], axis=1), mean[which], std[which])

    def draw(self, normals: Float[Array, "normals"]) -> Float[Array, "*teachers"]:
        """Return one draw for each teacher."""
        return jax.vmap(self.law.draw)(normals.reshape(self.count, DRAW_NORMALS))

    def sample(self, key: PRNGKey, shape: tuple[int, ...]) -> Float[Array, "..."]:
        """Independent draws, teachers first."""
        return self.law.sample(key, (self.count, *shape))


def stratum_of(probability: Float[Array, "strata"], normal: Scalar) -> Int[Array, ""]:
    """Return the stratum that a standard normal picks."""
    uniform = jax.scipy.special.ndtr(normal)
    # The last edge is left out: rounding in the sum must not open a stratum beyond the last.
    return jnp.searchsorted(jnp.cumsum(probability)[:-1], uniform, side="right")


def _strata(*rows: tuple[float | Scalar, float | Scalar, float | Scalar]) -> Strata:
    columns = zip(*rows, strict=True)
    return Strata(*(jnp.stack([jnp.asarray(x, dtype=jnp.float64) for x in column]) for column in columns))
