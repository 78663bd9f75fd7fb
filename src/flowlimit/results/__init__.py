"""Result records: data only, with outcome codes, error bars and provenance. No jax in this room."""

from .format import uncertain
from .limit import Kernels, Limit, Operators, PathSample
from .outcome import Code, FlowlimitError, Outcome
from .record import Curve, Curves, Record
from .runs import Runs

__all__ = [
    "Code",
    "Curve",
    "Curves",
    "FlowlimitError",
    "Kernels",
    "Limit",
    "Operators",
    "Outcome",
    "PathSample",
    "Record",
    "Runs",
    "uncertain",
]
