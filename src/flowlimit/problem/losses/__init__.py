"""Losses of one sample: what is trained, what is reported, and how labels come from a teacher."""

from .custom import CustomLoss
from .gaussian import gaussian_mean
from .huber import HuberLoss
from .logistic import LogisticLoss
from .loss import Loss, Moments, moments_of
from .squared import SquaredLoss

__all__ = [
    "CustomLoss",
    "HuberLoss",
    "LogisticLoss",
    "Loss",
    "Moments",
    "SquaredLoss",
    "gaussian_mean",
    "moments_of",
]
