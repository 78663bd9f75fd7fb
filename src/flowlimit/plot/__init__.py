"""Pictures: result -> matplotlib Axes. Nothing below this room imports matplotlib."""

from .curves import curves
from .ends import end_law
from .kernels import kernels
from .laws import law
from .phases import shade_phases

__all__ = ["curves", "end_law", "kernels", "law", "shade_phases"]
