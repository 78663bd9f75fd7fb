"""Models: how one coordinate's parameters become a weight, and how a gradient moves them."""

from .diagonal import DiagonalLinear
from .linear import Linear
from .model import Model
from .reparametrized import Reparametrized

__all__ = ["DiagonalLinear", "Linear", "Model", "Reparametrized"]
