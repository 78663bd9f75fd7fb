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
        alpha^-2: time in which the linearised network learns.
    rich
        2 log(alpha)/lambda: when weight decay has made the network small enough to leave the lazy phase; infinite
        without weight decay.
    rich_sharp
        log(alpha^2/r)/lambda, when alpha^2 e^(-lambda t) has come down to the root mean square r of the weights at the
        end of the lazy phase. `rich` takes 1 for r. NaN at aspect ratio 1 with label noise: least squares has no
        finite weights there.
    search
        One over the typical pull, the root of E[(w* - z(0)/delta)^2]: time in which coordinates tell themselves apart.
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
        """The law of w* - z(0)/delta, with z(0)/delta of variance (rho^2 + sigma^2)/delta."""
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
    second = (task.target_law.second_moment + task.noise_var) / task.aspect_ratio + task.target_law.second_moment
    large = not is_traced(scale) and float(scale) > 1.0
    positive = decay > 0.0
    when = lambda size: jnp.where(positive, jnp.log(scale**2 / size) / jnp.where(positive, decay, 1.0), jnp.inf)
    excess = _median_size(task) - decay
    descent = jnp.where(excess > 0.0, -2.0 * jnp.log(scale) / jnp.where(excess > 0.0, excess, 1.0), jnp.inf)
    regime = "large" if large else "small"
    rich = when(jnp.ones(())), when(jnp.sqrt(_lazy_square(task)))
    times = (nan_unless(is_valid(network, task), x) for x in (scale**-2.0, *rich, second**-0.5, descent))
    return Timescales(network, task, regime, *times)


def _lazy_square(task: Regression) -> Scalar:
    """Return E[w^2] at the end of the lazy phase: least squares, or the interpolator of least l2 norm."""
    delta, rho2, noise_var = task.aspect_ratio, task.target_law.second_moment, task.noise_var
    gap = jnp.where(delta == 1.0, jnp.nan, jnp.abs(delta - 1.0))
    fitted = jnp.where(noise_var > 0.0, noise_var / gap, 0.0)
    return jnp.minimum(delta, 1.0) * (rho2 + fitted)


def _pull(task: Regression) -> Channel:
    return make_channel(task.target_law, jnp.sqrt((task.target_law.second_moment + task.noise_var) / task.aspect_ratio))


def _beyond(task: Regression, level: Float[Array, "levels"], *, zero: bool) -> Float[Array, "levels"]:
    """Return P(|pull| > level) given that w* is 0, or is not."""
    channel = _pull(task)
    rows = jax.vmap(lambda x: channel.above(x) + channel.below(-x))(level)
    return rows @ task.target_law.strata().given(zero=zero)


@compiled  # its function is new at every call: eagerly it would compile every time
def _median_size(task: Regression) -> Scalar:
    """Return the median of |pull| over coordinates with w* != 0."""
    missing = lambda level, task: 0.5 - _beyond(task, level[None], zero=False)[0]
    _, mean, _ = task.target_law.strata()
    return monotone_root(missing, jnp.zeros(()), jnp.max(jnp.abs(mean)) + 9.0 * jnp.max(_pull(task).std), task)
