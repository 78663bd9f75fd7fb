"""The record of weights without the bias of their training, with confidence intervals."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from jaxtyping import Float

from .same import Comparable

Weights = Float[np.ndarray, "dim"]


@dataclass(frozen=True, repr=False, eq=False)
class Debiased(Comparable):
    """Target weights as a run shows them at one time: unbiased, each with the same Gaussian error.

    Attributes
    ----------
    time
        The saved time of the run that they are made from.
    weights
        One number for each feature, near its target weight.
    stderr
        Standard error of each of them.
    level
        Probability with which an interval holds its target weight.
    """

    time: float
    weights: Weights
    stderr: float
    level: float

    @property
    def reach(self) -> float:
        """Half the length of an interval."""
        return NormalDist().inv_cdf(0.5 + 0.5 * self.level) * self.stderr

    @property
    def low(self) -> Weights:
        """Lower ends of the intervals."""
        return self.weights - self.reach

    @property
    def high(self) -> Weights:
        """Upper ends of the intervals."""
        return self.weights + self.reach

    @property
    def p_values(self) -> Weights:
        """For each weight, the probability of one as large if its target were 0; not corrected for their number."""
        from scipy.special import erfc

        return erfc(np.abs(self.weights) / (np.sqrt(2.0) * self.stderr))

    def __repr__(self) -> str:
        apart = int((np.abs(self.weights) > self.reach).sum())
        by_chance = (1.0 - self.level) * len(self.weights)
        return (
            f"Debiased: {len(self.weights)} weights at time {self.time:.4g}, each to {self.stderr:.2g}; {apart} "
            f"intervals of {self.level:.0%} do not hold 0, where chance alone gives {by_chance:.0f}"
        )
