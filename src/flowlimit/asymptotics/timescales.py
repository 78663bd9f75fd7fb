"""When the phases of learning come: lazy and rich from large initialisations, search and descent from small ones."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..numerics.compiling import compiled
from ..numerics.precision import DoubleModule, own_settings
from ..numerics.roots import monotone_root
from ..problem.models import DiagonalLinear, Model
from ..problem.tasks import Regression, Task
from ..results import ClosedForm
from ..types import Scalar, is_traced
from .case import check_problem, init_scale
from .channel import Channel, make_channel
from .lazy import LazyErrors, lazy_errors
from .validity import is_valid, nan_unless

Points = Float[Array, "*points"]


class Timescales(ClosedForm, DoubleModule):
    """When the phases of a depth-2 network's gradient flow come.

    Attributes
    ----------
    regime
        "large" for init scales above 1 (lazy, then rich), "small" for others (search, then descent).
    lazy
        1/(alpha^2 s): time in which the linearised network learns, alpha^-2 for features of variance 1. Of unequal
        features s is the mean variance, weighted by what the teacher's output owes to each.
    rich
        2 log(alpha)/lambda: when weight decay has made the network small enough to leave the lazy phase; infinite
        without weight decay.
    rich_sharp
        log(alpha^2/r)/lambda, when alpha^2 e^(-lambda t) has come down to the root mean square r of the weights at the
        end of the lazy phase. `rich` takes 1 for r. Minus infinity at aspect ratio 1 with label noise: weights of
        least squares are not finite there.
    search
        One over the typical pull, the root of E[(s w* - sqrt(s) z(0)/delta)^2] for features of variance s: time in
        which coordinates tell themselves apart.
    descent
        ``2 log(1/alpha)/(m - lambda)`` with m the median size of the pull over coordinates with w* != 0: when half of
        them have been learnt; infinite if fewer ever are. Its law over paths: `learnt`.

    Under jit or vmap, all are NaN where a parameter is out of its range.
    """

    WORDS = ("regime",)
    NUMBERS = ("lazy", "rich", "rich_sharp", "search", "descent")

    model: DiagonalLinear
    task: Regression
    regime: Literal["large", "small"] = eqx.field(static=True)
    lazy: Scalar
    rich: Scalar
    rich_sharp: Scalar
    search: Scalar
    descent: Scalar

    def __repr__(self) -> str:
        if is_traced(self.lazy) or jnp.ndim(self.lazy):
            return eqx.tree_pformat(self)
        names = ("lazy", "rich", "rich_sharp") if self.regime == "large" else ("search", "descent")
        text = ", ".join(f"{name} {float(getattr(self, name)):.6g}" for name in names)
        return f"{self.regime} init scale: {text}"

    @property
    def pull(self) -> Channel:
        """The law of s w* - sqrt(s) z(0)/delta, with z(0)/delta of variance (rho^2 + sigma^2)/delta."""
        return _pull(self.task)

    def descent_time(self, pull: Points) -> Points:
        """Return ``2 log(1/alpha)/(|pull| - lambda)``, when a path leaves 0; infinite for pulls up to lambda.

        Exact for alpha -> 0 at infinite data, and for the first paths otherwise: later ones feel those learnt before,
        see `descent_times` of a limit.
        """
        excess = jnp.abs(jnp.asarray(pull)) - self.model.weight_decay
        return jnp.where(excess > 0.0, self._log_inverse / jnp.where(excess > 0.0, excess, 1.0), jnp.inf)

    def learnt(self, times: Points) -> Points:
        """Return the share of coordinates with w* != 0 whose descent time is below t: the order of learning."""
        return self._share(times, zero=False)

    def false_alarms(self, times: Points) -> Points:
        """Return the share of coordinates with w* = 0 whose descent time is below t."""
        return self._share(times, zero=True)

    def lazy_errors(self, times: Float[np.ndarray, "times"]) -> LazyErrors:
        """Return the errors of the lazy phase, eq. (lazy_sol)."""
        return lazy_errors(self.task, np.asarray(times) / float(self.lazy))

    @property
    def _log_inverse(self) -> Scalar:
        return -2.0 * jnp.log(init_scale(self.model))

    def _share(self, times: Points, *, zero: bool) -> Points:
        times = jnp.asarray(times, dtype=jnp.float64)
        needed = self.model.weight_decay + self._log_inverse / jnp.where(times > 0.0, times, 1.0)
        needed = jnp.where(times > 0.0, needed, jnp.inf).reshape(-1)
        share = _beyond(self.task, needed, zero=zero)
        return share.reshape(times.shape)


@own_settings()
def timescales(model: Model, task: Task) -> Timescales:
    """Return the timescales of gradient flow of a depth-2 network, from the paper's section on them.

    They are leading orders, for init scales far from 1; `label_phases` puts them beside what a limit or runs show.

    Examples
    --------
    >>> import flowlimit as fl
    >>> task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    >>> fl.timescales(fl.DiagonalLinear(1e3, weight_decay=0.1), task)
    large init scale: lazy 1e-06, rich 138.155, rich_sharp 152.222
    >>> fl.timescales(fl.DiagonalLinear(1e-3), task)
    small init scale: search 1.76777, descent 13.8153
    """
    network, task = check_problem(model, task)
    scale, decay = init_scale(network), network.weight_decay
    p, mean, std, *_ = _pull(task)
    second = p @ (mean**2 + std**2)
    large = not is_traced(scale) and float(scale) > 1.0
    positive = decay > 0.0
    when = lambda size: jnp.where(positive, jnp.log(scale**2 / size) / jnp.where(positive, decay, 1.0), jnp.inf)
    median, lazy_square = _median_and_lazy(task)
    excess = median - decay
    descent = jnp.where(excess > 0.0, -2.0 * jnp.log(scale) / jnp.where(excess > 0.0, excess, 1.0), jnp.inf)
    regime = "large" if large else "small"
    rich = when(jnp.ones(())), when(jnp.sqrt(lazy_square))
    lazy = 1.0 / (scale**2 * _weighted_variance(task))
    times = (nan_unless(is_valid(network, task), x) for x in (lazy, *rich, second**-0.5, descent))
    return Timescales(network, task, regime, *times)


def _weighted_variance(task: Regression) -> Scalar:
    """Return E[s^2 w*^2]/E[s w*^2]; E[s] without a teacher."""
    (p, mean, std), s = task.coordinate_law.strata(), task.coordinate_law.variances()
    signal = task.coordinate_law.signal
    own = p @ (s**2 * (mean**2 + std**2)) / jnp.where(signal > 0.0, signal, 1.0)
    return jnp.where(signal > 0.0, own, p @ s)


def _lazy_square(task: Regression) -> Scalar:
    """Return E[w^2] at the end of the lazy phase: least squares, or the interpolator of least l2 norm.

    Both are ridge regression without a ridge, of which w = x s/(s + kappa) with E[s/(s + kappa)] = min(delta, 1).
    """
    delta = task.aspect_ratio
    (p, mean, std), s = task.coordinate_law.strata(), task.coordinate_law.variances()
    square, fewer = mean**2 + std**2, delta < 1.0
    used = jnp.where(fewer, delta, 0.5)
    kept = lambda log_kappa, given: given[1] @ (given[0] / (given[0] + jnp.exp(log_kappa))) - given[2]
    lower, upper = (jnp.log(bound(s)) + jnp.log(1.0 / used - 1.0) for bound in (jnp.min, jnp.max))
    root = monotone_root(kept, lower - 1e-3, upper + 1e-3, (s, p, used), rising=False)
    kappa = jnp.where(fewer, jnp.exp(root), 0.0)
    share = s / (s + kappa)
    left = p @ (s * (1.0 - share) ** 2 * square) + task.noise_var
    free = jnp.where(delta == 1.0, 0.0, delta - p @ share**2)  # what sums of probabilities leave is rounding
    noise = jnp.where(left > 0.0, left / free, 0.0)
    return p @ (share**2 * (square + noise / s))


def _pull(task: Regression) -> Channel:
    law = task.coordinate_law
    return make_channel(law, jnp.sqrt((law.signal + task.noise_var) / task.aspect_ratio)).pull


def _beyond(task: Regression, level: Float[Array, "levels"], *, zero: bool) -> Float[Array, "levels"]:
    """Return P(|pull| > level) given that w* is 0, or is not."""
    channel = _pull(task)
    rows = jax.vmap(lambda x: channel.above(x) + channel.below(-x))(level)
    return rows @ task.coordinate_law.strata().given(zero=zero)


@compiled  # functions of roots are new at every call: eagerly they would compile every time
def _median_and_lazy(task: Regression) -> tuple[Scalar, Scalar]:
    """Return the median of |pull| over coordinates with w* != 0, and E[w^2] at the end of the lazy phase."""
    missing = lambda level, task: 0.5 - _beyond(task, level[None], zero=False)[0]
    pull = _pull(task)
    most = jnp.max(jnp.abs(pull.mean)) + 9.0 * jnp.max(pull.std)
    return monotone_root(missing, jnp.zeros(()), most, task), _lazy_square(task)
