"""The verb `debias`: target weights with confidence intervals, from a run at any time, where features are isotropic.

On the side of the weights the limit says g = G (w - w*) + z for every coordinate, g = X^T r/delta the gradient and G
the response of residuals, with z Gaussian of covariance C_f/delta. The samples side gives G^-1 r = u, residuals that
samples would have if each were left out, and G^-1 C_f G^-T the test error. So

    w - X^T u/delta = w* - G^-1 z,    of variance test error/delta,

a step of size 1 by the left-out residuals, for every model and every time. It needs features that are independent.
"""

import numpy as np
from jaxtyping import Float

from ..problem.checks import instance, number
from ..problem.tasks import DataSource
from ..results import Debiased, Estimate

BARS = 4.0
"""Standard errors by which correlations may be above those of independent features."""


def debias(estimate: Estimate, *, time: float | None = None, level: float = 0.95) -> Debiased:
    """Return target weights with confidence intervals, from an estimate on features that are independent of each other.

    Weights along a run are shrunk, by early stopping and by what the model favours. A step along the residuals that
    samples would have if left out takes that away: what is left is Gaussian noise, alike for each weight, of variance
    test error / aspect ratio. Any time of the run may be taken; where the test error is smallest, intervals are
    shortest.

    Parameters
    ----------
    estimate
        What `estimate_test_error` returned. Its features must be isotropic: uncorrelated, of one variance, as `prepare`
        makes the variances. Others are refused: for them the step needs the inverse of their covariance.
    time
        A saved time; the time to stop unless given.
    level
        Probability of the intervals.

    Examples
    --------
    >>> import numpy as np, flowlimit as fl
    >>> task = fl.Regression(0.8, noise_var=0.1, target=fl.Bernoulli(0.1))
    >>> data = fl.draw(task, dim=200, key=0)
    >>> estimate = fl.estimate_test_error(fl.DiagonalLinear(0.3), data, fl.GradientDescent(0.2, num_steps=40))
    >>> debiased = fl.debias(estimate)
    >>> held = (debiased.low <= data.w_star) & (data.w_star <= debiased.high)
    >>> bool(0.9 <= held.mean() <= 1.0)
    True
    """
    estimate = instance("estimate", Estimate, "fl.estimate_test_error(...)")(estimate)
    level = float(number("level", above=0.0, at_most=1.0 - 1e-9, example=0.95)(level))
    task: DataSource = estimate.noun("task")
    if estimate.stopping is None:
        raise ValueError(f"estimate: it has no saved time: {estimate.result.code}: {estimate.result.message}")
    wanted = estimate.stopping.time if time is None else float(number("time", at_least=0.0, example=1.0)(time))
    at = int(np.abs(estimate.times - wanted).argmin())
    if not np.isclose(estimate.times[at], wanted, rtol=1e-9, atol=0.0):
        raise ValueError(f"time: given {wanted:g}, needs a saved time; the nearest is {estimate.times[at]:g}")
    X = np.asarray(task.known().X)
    excess, allowed = correlation_excess(X)
    if excess > allowed:
        raise ValueError(
            f"estimate: its features are correlated or of unequal variance: squared products of rows are {excess:.2g} "
            f"above those of independent features, where chance allows {allowed:.2g}; debiased weights are known for "
            f"isotropic features only, e.g. after whitening by a covariance that you know"
        )
    step = 1.0 / (X**2).sum() * X.shape[1]  # 1/delta, in units of the entries' variance
    weights = estimate.weights[at] - step * (estimate.left_out[at] @ X)
    return Debiased(wanted, weights, float(np.sqrt(estimate.test_error[at] * step)), level)


def correlation_excess(X: Float[np.ndarray, "samples dim"]) -> tuple[float, float]:
    """Return tr(S^2) d/tr(S)^2 - 1 of the features' covariance S, which is 0 if isotropic, and what chance allows.

    Products of different rows have no bias; their standard error is 2/n. Means that were taken away add d/n^2.
    """
    samples, dim = X.shape
    gram = X @ X.T
    own = np.diag(gram)
    pairs = ((gram**2).sum() - (own**2).sum()) / (samples * (samples - 1.0))
    return float(dim * pairs / own.mean() ** 2 - 1.0), BARS * 2.0 / samples + dim / samples**2
