"""A claim of the paper beside what was measured of it."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

CHANCE = 1e-3
"""Chance that a true claim is judged false by the scatter of runs, all points of a panel together."""
Kind = Literal["below", "above"]


@dataclass(frozen=True)
class Verdict:
    """One claim, judged by one number.

    Attributes
    ----------
    panel
        Label of the figure, or of the part of it, that shows it.
    claim
        What the paper says, in words.
    measured
        The number, with its name: ``"largest deviation in standard errors"``.
    value, bound
        The claim holds if the value is below (or above) the bound.
    note
        Where the data and the paper disagree, or what the number leaves out.
    """

    panel: str
    claim: str
    measured: str
    value: float
    bound: float
    side: Kind = "below"
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether the claim holds; a number that is none holds nothing."""
        if not np.isfinite(self.value):
            return False
        return self.value <= self.bound if self.side == "below" else self.value >= self.bound

    def __str__(self) -> str:
        sign = "<=" if self.side == "below" else ">="
        return f"{self.measured}: {self.value:.3g} (needs {sign} {self.bound:.3g})"


def judge_deviations(panel: str, claim: str, what: str, deviations: Float[np.ndarray, "_"], trials: int) -> Verdict:
    """Judge the largest of some deviations in standard errors, which come from so many trials.

    The bound is what the largest of as many Student numbers stays below, but for a small chance.
    """
    bound = float(stdtrit(trials - 1, 1.0 - CHANCE / (2.0 * len(deviations))))
    measured = f"largest deviation of {what}, in standard errors"
    return Verdict(panel, claim, measured, float(np.abs(deviations).max()), bound)
