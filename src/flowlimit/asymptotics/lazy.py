"""The lazy phase in closed form, eq. (lazy_sol): from large initialisations, a linear model on the time alpha^2 t."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ..numerics.marchenko_pastur import marchenko_pastur
from ..problem.checks import shown
from ..problem.tasks import Regression

Times = Float[np.ndarray, "times"]
Square = Float[np.ndarray, "times times"]
ORDER = 2000


def _numbers(task: Regression) -> tuple[float, float, float]:
    """Return aspect ratio, noise and the target's second moment; features of unequal variances are refused."""
    if task.feature_law is not None:
        raise TypeError(
            f"task: given {shown(task)}; curves of the lazy phase are known for features of equal variance, needs "
            f"target= in place of features=; for these features, fl.solve_dmft with fl.Linear() has that phase"
        )
    return float(task.aspect_ratio), float(task.noise_var), float(task.coordinate_law.signal)


class LazyErrors(NamedTuple):
    """Training and test error."""

    train_error: Times
    test_error: Times


def lazy_errors(task: Regression, scaled_times: Times) -> LazyErrors:
    """Return the errors at times alpha^2 t, by integrals over the Marchenko-Pastur law.

    Examples
    --------
    >>> import flowlimit as fl
    >>> task = fl.Regression(aspect_ratio=2.0, noise_var=0.1, target=fl.Normal())
    >>> [round(float(error[0]), 6) for error in lazy_errors(task, np.array([np.inf]))]
    [0.05, 0.2]
    """
    delta, noise_var, rho2 = _numbers(task)
    x, weights = marchenko_pastur(delta, ORDER)
    t = np.asarray(scaled_times, dtype=float)[:, None]
    with np.errstate(invalid="ignore"):
        left = np.where(x[None] > 0.0, np.exp(-x[None] * t), 1.0)
    moved = np.where(x > 0.0, 1.0 / np.where(x > 0.0, x, 1.0), 0.0)[None] * (1.0 - left) ** 2
    flat = noise_var * (delta - 1.0) / delta
    train = (rho2 * x[None] + noise_var / delta) * left**2
    test = rho2 * left**2 + noise_var / delta * moved
    return LazyErrors(train @ weights + flat, test @ weights + noise_var)


class LazyKernels(NamedTuple):
    """The four kernels at pairs of times, rows t, columns s; responses vanish for s > t."""

    C_w: Square
    C_f: Square
    R_w: Square
    R_f: Square


def lazy_kernels(task: Regression, scaled_times: Times) -> LazyKernels:
    """Return the kernels of the lazy phase, the solution of eq. (dmft_lazy), at times alpha^2 t.

    A response R(t, s) of the network is alpha^2 times the one given here.

    Examples
    --------
    >>> import flowlimit as fl
    >>> kernels = lazy_kernels(fl.Regression(2.0, noise_var=0.1, target=fl.Normal()), np.array([0.0, 1.0]))
    >>> float(round(kernels.R_w[0, 0], 6))
    0.5
    """
    delta, noise_var, rho2 = _numbers(task)
    x, weights = marchenko_pastur(delta, ORDER)
    t = np.asarray(scaled_times, dtype=float)
    left, safe = np.exp(-t[:, None] * x[None]), np.where(x > 0.0, x, 1.0)
    product = lambda rows, share: (rows * (share * weights)[None]) @ rows.T
    moved = np.where(x[None] > 0.0, 1.0 - left, 0.0)
    C_w = rho2 * product(left, np.ones_like(x)) + noise_var / delta * product(moved, 1.0 / safe)
    C_f = product(left, rho2 * x + noise_var / delta) + noise_var * (delta - 1.0) / delta
    both = np.stack([weights, x * weights], axis=1) / delta
    row = lambda now: np.exp(-np.maximum(now - t, 0.0)[:, None] * x[None]) @ both * (t <= now)[:, None]
    responses = np.stack([row(now) for now in t])  # row by row: all at once would not fit
    return LazyKernels(C_w, C_f, responses[..., 0], responses[..., 1])


def lazy_amplitudes(task: Regression) -> tuple[float, float]:
    """Return A_train and A_test of the late lazy phase, in s = alpha^2 t and g = (1 - delta^(-1/2))^2.

    train_error - end ~ A_train s^(-3/2) e^(-2 g s) and, with noise, test_error - end ~ A_test s^(-3/2) e^(-g s): the
    Marchenko-Pastur density rises from its edge g like C sqrt(x - g), and the integral of sqrt(r) e^(-r s) is
    sqrt(pi)/2 s^(-3/2).
    """
    delta, noise_var, rho2 = _numbers(task)
    edge = (1.0 - delta**-0.5) ** 2
    steepness = delta * np.sqrt(4.0 / np.sqrt(delta)) / (2.0 * np.pi * edge)
    unit = steepness * np.sqrt(np.pi) / 2.0
    train = (rho2 * edge + noise_var / delta) * unit * 2.0**-1.5
    return float(train), float(-2.0 * noise_var / (delta * edge) * unit)
