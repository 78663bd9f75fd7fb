"""The high-dimensional limit: dynamical mean-field theory in operator form, solved causally with error bars."""

from .derivative import differentiate
from .driver import Solved, solve, unsolved
from .errors import all_curves, student_factor
from .frozen import frozen_grid
from .grid import Grid
from .kernels import make_kernels
from .measure import Measure
from .plan import Plan, make_plan

__all__ = [
    "Grid",
    "Measure",
    "Plan",
    "Solved",
    "all_curves",
    "differentiate",
    "frozen_grid",
    "make_kernels",
    "make_plan",
    "solve",
    "student_factor",
    "unsolved",
]
