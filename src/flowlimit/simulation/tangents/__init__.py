"""A training run with its tangents: what the samples side of the limit is inverted from."""

from .path import TangentPath
from .samples_side import Inverted, invert
from .work import TangentWork, follow

__all__ = ["Inverted", "TangentPath", "TangentWork", "follow", "invert"]
