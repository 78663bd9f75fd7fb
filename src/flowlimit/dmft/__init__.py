"""The high-dimensional limit: dynamical mean-field theory in operator form, solved causally with error bars.

Packages, each of which imports only those before it: `settings` and `request` say what is wanted and with which
numbers, `engine/` solves one replica, `readout/` turns its arrays into curves, `sampling/` draws its paths, `control/`
decides what to solve next, `solvers` is what users hold.
"""

from .derivative import differentiate
from .request import SolverAnswer, SolverRequest
from .sampling.frozen import frozen_grid
from .solvers import AbstractSolver, PanelSolver, StepSolver, default_solver

__all__ = [
    "AbstractSolver",
    "PanelSolver",
    "SolverAnswer",
    "SolverRequest",
    "StepSolver",
    "default_solver",
    "differentiate",
    "frozen_grid",
]
