"""Pictures: result -> matplotlib Axes. Nothing below this room imports matplotlib."""

from .curves import curves
from .kernels import kernels
from .laws import law

__all__ = ["curves", "kernels", "law"]
