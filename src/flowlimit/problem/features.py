"""Laws of features: the variance s of a feature and the teacher's weight w* on it, coordinate by coordinate.

Features are x_j = sqrt(s_j) z_j with independent z_j, as in data that are written in their principal basis. With
w^ = sqrt(s) w such data are plain ones: the target is sqrt(s) w*, weights are read as sqrt(s) w_t(theta) and theta sees
the gradient sqrt(s) g. So the law of a coordinate is joint in (s, w*), and nothing else changes.
"""

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ..numerics.log_rule import COARSE, ORDER, log_rule
from ..numerics.principal import principal
from ..types import PRNGKey, Scalar, is_traced
from .checks import check_entries, instance, integer, number, shown, vector
from .laws import DRAW_NORMALS, Law, Strata, Target, stratum_of

LARGEST_DIM = 1_000_000
FEWEST_ROWS = 3
PerStratum = Float[Array, "strata"]


class FeatureLaw(Target):
    """The joint law of a feature's variance s and the teacher's weight w* on it, in place of a target.

    A subclass must write two methods:

    - ``strata()`` -> `Strata`, the law of w* as a mixture of atoms and Gaussians, as of a `Law`.
    - ``variances()`` -> the variance of the features in each stratum, of shape ``(strata,)``, above 0.
    """

    @abc.abstractmethod
    def variances(self) -> PerStratum:
        """Return the variance of the features in each stratum."""

    def coarser(self) -> "FeatureLaw | None":
        """Return a rougher rule for the same law, with as many strata, by which errors of the strata are told.

        None, unless overridden: the strata are the law itself.
        """
        return None

    @property
    def shape(self) -> tuple[int, ...]:
        """One number."""
        return ()

    @property
    def signal(self) -> Scalar:
        """Variance of the teacher's output, E[s w*^2].

        Examples
        --------
        >>> import flowlimit as fl
        >>> float(fl.Spectrum([1.0, 0.25], [1.0, 2.0]).signal)
        1.0
        """
        probability, mean, std = self.strata()
        return jnp.sum(probability * self.variances() * (mean**2 + std**2))

    def draw(self, normals: Float[Array, "normals"]) -> Scalar:
        """Return w* of one draw, made from two standard normals."""
        probability, mean, std = self.strata()
        stratum = stratum_of(probability, normals[0])
        return mean[stratum] + std[stratum] * normals[1]

    def draw_variance(self, normals: Float[Array, "normals"]) -> Scalar:
        """Return s of the same draw."""
        return self.variances()[stratum_of(self.strata().probability, normals[0])]

    def sample(self, key: PRNGKey, shape: tuple[int, ...]) -> Float[Array, "..."]:
        """Independent draws of w*."""
        return jax.vmap(self.draw)(_normals(key, shape)).reshape(shape)

    def sample_variances(self, key: PRNGKey, shape: tuple[int, ...]) -> Float[Array, "..."]:
        """Variances of the features whose w* `sample` gives for the same key."""
        return jax.vmap(self.draw_variance)(_normals(key, shape)).reshape(shape)

    def coordinates(self) -> "FeatureLaw":
        """Return the law that data are drawn from: itself, unless its strata only stand in for more coordinates."""
        return self

    def balanced_features(
        self, key: PRNGKey, count: int
    ) -> tuple[Float[Array, "count"], Float[Array, "count"], Int[Array, "count"]]:
        """Draws of w* and s with the law's composition, and the stratum that each of them is from."""
        law = self.coordinates()
        w_star, strata = law.balanced(key, count)
        return w_star, law.variances()[strata], strata

    def independent_features(self, key: PRNGKey, count: int) -> tuple[Float[Array, "count"], Float[Array, "count"]]:
        """Independent draws of w* and s."""
        law = self.coordinates()
        return law.sample(key, (count,)), law.sample_variances(key, (count,))


class Features(FeatureLaw):
    """Variance and target drawn independently of each other.

    Parameters
    ----------
    variance
        Law of the variances, a law of atoms above 0.
    target
        Law of the entries of w*.

    Examples
    --------
    >>> import flowlimit as fl
    >>> two_blocks = fl.Features(variance=fl.Empirical([1.0, 0.1]), target=fl.Normal())
    >>> fl.Regression(2.0, noise_var=0.1, features=two_blocks)
    Regression(aspect_ratio=2, noise_var=0.1, features=Features(variance=Empirical(values=<array 2>), target=Normal()))
    """

    variance: Law = eqx.field(kw_only=True, converter=instance("variance", Law, "fl.Empirical([1.0, 0.1])"))
    target: Law = eqx.field(
        kw_only=True, converter=instance("target", Law, "fl.Bernoulli(0.1)", "fl.Empirical(values)")
    )

    def __check_init__(self) -> None:
        probability, mean, std = self.variance.strata()
        if any(map(is_traced, (probability, mean, std))):
            return
        own = np.asarray(probability) > 0.0
        if (np.asarray(std)[own] > 0.0).any() or not (np.asarray(mean)[own] > 0.0).all():
            raise ValueError(
                f"variance: given {shown(self.variance)}, needs a law of numbers above 0, e.g. "
                f"variance=fl.Empirical([1.0, 0.1]); for coordinates one by one, fl.Spectrum(variances, targets)"
            )

    def strata(self) -> Strata:
        """All pairs of a variance and a stratum of the target."""
        (own, _, _), (probability, mean, std) = self.variance.strata(), self.target.strata()
        every = lambda x: jnp.tile(x, len(own))
        return Strata((own[:, None] * probability[None]).ravel(), every(mean), every(std))

    def variances(self) -> PerStratum:
        """Variances of the same pairs; one of probability 0 may be anything, and is 1."""
        probability, mean, _ = self.variance.strata()
        return jnp.repeat(jnp.where(probability > 0.0, mean, 1.0), len(self.target.strata().probability))


class Spectrum(FeatureLaw):
    """Coordinates given one by one: the variance of each feature, and the teacher's weight on it.

    Parameters
    ----------
    variances
        Variances of the features, each above 0: eigenvalues of their covariance.
    targets
        The teacher's weights in the same order.

    Examples
    --------
    >>> import flowlimit as fl
    >>> fl.Spectrum([1.0, 0.5, 0.1], [1.0, 0.0, -1.0])
    Spectrum(variances=<array 3>, targets=<array 3>)
    """

    given_variances: Float[Array, "coordinates"] = eqx.field(
        converter=vector("variances", above=0.0, example="[1.0, 0.1]"), metadata={"argument": "variances"}
    )
    targets: Float[Array, "coordinates"] = eqx.field(converter=vector("targets", example="[1.0, -1.0]"))

    def __init__(self, variances: Any, targets: Any) -> None:
        self.given_variances, self.targets = variances, targets

    def __check_init__(self) -> None:
        if self.given_variances.shape != self.targets.shape:
            raise ValueError(
                f"targets: given {self.targets.shape[0]} of them for {self.given_variances.shape[0]} variances; needs "
                f"one for each"
            )

    @classmethod
    def from_data(cls, X: Any, y: Any) -> "Spectrum":
        """Return the spectrum of a table: variances of its principal components, and a ridge estimate of the teacher.

        Columns are centred, y is centred and has variance 1, and variances have the mean 1; the ridge is the one with
        the least error on rows left out one by one. What y owes to the features then is ``signal``, and
        ``1 - signal`` stands for the noise. `flowlimit.data.principal_data` returns the rows in the same basis.

        What a limit with it assumes of the rows: that their principal components are independent of each other, not
        only uncorrelated; that the table's covariance is that of new rows, for which it should have many more rows than
        are trained on; and that y is linear in the features, with noise of one size. A diagonal network is trained on
        the principal components, not on the columns; a linear model does not tell the two apart.

        Parameters
        ----------
        X
            The features, a row per sample, in any units that are comparable.
        y
            What is predicted.

        Examples
        --------
        >>> import numpy as np, flowlimit as fl
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(400, 3)) * np.array([2.0, 1.0, 0.5])
        >>> law = fl.Spectrum.from_data(X, X @ np.array([0.0, 1.0, 0.0]) + 0.5 * rng.normal(size=400))
        >>> np.asarray(law.variances()).round(1).tolist(), round(float(law.signal), 1)
        ([2.3, 0.6, 0.1], 0.8)
        """
        table, labels = check_table(X, y)
        found = principal(table, labels)
        return cls(found.variances, found.weights)

    def strata(self) -> Strata:
        """One atom per coordinate."""
        count = self.targets.shape[0]
        return Strata(jnp.full(count, 1.0 / count), self.targets, jnp.zeros(count))

    def variances(self) -> PerStratum:
        """As given."""
        return self.given_variances


class PowerLaw(FeatureLaw):
    """Powers of the index: variances s_j = j^-capacity, and a teacher with s_j w*_j^2 proportional to j^-source.

    Weights of the teacher are above 0, and scaled such that its output has variance E[s w*^2] = 1.

    A limit sums over the ``dim`` coordinates by quadrature in log j, some thirty to ninety nodes in all; the error of
    that is part of the limit's error bars. Runs draw the coordinates themselves: at the same dim each of them once.

    Parameters
    ----------
    dim
        Number of coordinates, up to a million.
    capacity
        How fast variances fall.
    source
        How fast the teacher's part of each feature does.
    order
        Nodes of the quadrature in each half of a decade, up to 8, as unless given.

    Examples
    --------
    >>> import flowlimit as fl
    >>> law = fl.PowerLaw(1000, capacity=1.2, source=1.5)
    >>> len(law.strata().probability), round(float(law.signal), 9)
    (43, 1.0)
    """

    dim: int = eqx.field(static=True, converter=integer("dim", at_least=1, at_most=LARGEST_DIM, example=1000))
    capacity: Scalar = eqx.field(kw_only=True, converter=number("capacity", at_least=0.0, at_most=8.0, example=1.2))
    source: Scalar = eqx.field(kw_only=True, converter=number("source", at_least=0.0, at_most=16.0, example=1.5))
    order: int = eqx.field(
        kw_only=True,
        default=ORDER,
        static=True,
        converter=integer("order", at_least=1, at_most=ORDER, example=ORDER),
    )

    def strata(self) -> Strata:
        """The nodes of the quadrature, each an atom."""
        nodes, weights = (jnp.asarray(x) for x in log_rule(self.dim, self.order))
        power = jnp.exp(-self.source * nodes)
        square = power / (weights @ power) * self.dim / self.variances()
        return Strata(weights / self.dim, jnp.sqrt(square), jnp.zeros(len(nodes)))

    def variances(self) -> PerStratum:
        """Variances at the nodes."""
        return jnp.exp(-self.capacity * jnp.asarray(log_rule(self.dim, self.order).nodes))

    def coarser(self) -> "PowerLaw":
        """Return the same law with fewer nodes that have a weight."""
        return PowerLaw(self.dim, capacity=self.capacity, source=self.source, order=min(self.order, COARSE))

    def coordinates(self) -> Spectrum:
        """Return the law of the coordinates themselves."""
        j = jnp.arange(1.0, self.dim + 1.0)
        power = j**-self.source
        return Spectrum(j**-self.capacity, jnp.sqrt(self.dim * power / jnp.sum(power) * j**self.capacity))


def check_table(X: Any, y: Any) -> tuple[Float[np.ndarray, "rows columns"], Float[np.ndarray, "rows"]]:
    """Return a table of features and labels, or refuse it: at least three rows, and something to predict."""
    fix = "needs numbers, a row per sample, e.g. fl.Spectrum.from_data(X, y) with X of shape (rows, columns)"
    try:
        table, labels = (np.asarray(value, dtype=float) for value in (X, y))
    except (TypeError, ValueError):
        raise TypeError(f"X, y: given {shown(X)} and {shown(y)}, {fix}") from None
    if table.ndim != 2 or labels.shape != table.shape[:1] or len(labels) < FEWEST_ROWS:
        raise ValueError(f"X, y: given shapes {table.shape} and {labels.shape}, {fix}, and at least {FEWEST_ROWS} rows")
    for name, values in (("X", table), ("y", labels)):
        check_entries(name, values, "needs finite numbers")
        if not np.ptp(values, axis=0).max(initial=0.0) > 0.0:
            raise ValueError(f"{name}: given one whose rows are all alike, needs something that varies")
    return table, labels


def _normals(key: PRNGKey, shape: tuple[int, ...]) -> Float[Array, "draws normals"]:
    return jax.random.normal(key, (int(np.prod(shape)), DRAW_NORMALS))
