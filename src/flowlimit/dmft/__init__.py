"""The high-dimensional limit: dynamical mean-field theory in operator form, solved causally with error bars."""

from .driver import Solved, solve
from .errors import all_curves
from .grid import Grid
from .kernels import make_kernels
from .measure import Measure
from .plan import Plan, make_plan

__all__ = ["Grid", "Measure", "Plan", "Solved", "all_curves", "make_kernels", "make_plan", "solve"]
