"""Many points on many machines: the verb `sweep`, its stores and its tables."""

from .table import Failure, Table, open_sweep
from .verb import sweep

__all__ = ["Failure", "Table", "open_sweep", "sweep"]
