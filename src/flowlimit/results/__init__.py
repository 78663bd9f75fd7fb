"""Result records: data only, with outcome codes, error bars and provenance. No jax in this package."""

from .answer import Answer
from .closed_form import ClosedForm
from .debiased import Debiased
from .estimate import Estimate, Stopping
from .format import uncertain
from .limit import Kernels, Limit, Operators, PathSample
from .outcome import Code, FlowlimitError, Outcome
from .record import Curve, Curves, Record
from .runs import Runs
from .same import Comparable
from .selection import Choice, Selection
from .stats import EstimateStats, RunStats, SolveStats
from .version import RESULTS_VERSION

__all__ = [
    "RESULTS_VERSION",
    "Answer",
    "Choice",
    "ClosedForm",
    "Code",
    "Comparable",
    "Curve",
    "Curves",
    "Debiased",
    "Estimate",
    "EstimateStats",
    "FlowlimitError",
    "Kernels",
    "Limit",
    "Operators",
    "Outcome",
    "PathSample",
    "Record",
    "RunStats",
    "Runs",
    "Selection",
    "SolveStats",
    "Stopping",
    "uncertain",
]
