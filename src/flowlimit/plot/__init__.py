"""Pictures: result -> matplotlib Axes. Nothing below this package imports matplotlib."""

from .curves import curves
from .fixed_points import fixed_point_law
from .kernels import kernels
from .laws import law
from .phases import shade_phases
from .scaling import scaling
from .selection import selection

__all__ = ["curves", "fixed_point_law", "kernels", "law", "scaling", "selection", "shade_phases"]
