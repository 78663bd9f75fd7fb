"""flowlimit: high-dimensional limits of learning flows, with error bars, beside the experiments that check them.

Names are loaded on first use, so that ``import flowlimit`` and ``flowlimit --help`` do not load jax.
"""

import importlib
from typing import Any

__version__ = "0.1.0.dev0"

# Public name -> module that defines it. The stub __init__.pyi says the same to type checkers; a test compares the two.
_HOMES = {
    "results": [
        *("Choice", "Code", "Curve", "Curves", "Debiased", "Estimate", "EstimateStats", "FlowlimitError"),
        *(
            "Kernels",
            "Limit",
            "Operators",
            "Outcome",
            "PathSample",
            "RunStats",
            "Runs",
            "Selection",
            "SolveStats",
            "Stopping",
        ),
    ],
    "asymptotics.amp": ["MessagePassing", "amp"],
    "asymptotics.minimizer": ["Minimizer", "minimizer"],
    "asymptotics.state_evolution": ["StateEvolution", "state_evolution"],
    "asymptotics.fixed_point": ["FixedPoint", "fixed_point"],
    "asymptotics.phases": ["Phases", "descent_times", "label_phases"],
    "asymptotics.rate": ["Rate", "convergence_rate"],
    "asymptotics.small_init": ["LassoPath", "small_init_path"],
    "asymptotics.tail": ["Tail", "fit_tail"],
    "asymptotics.timescales": ["Timescales", "timescales"],
    "dmft": ["AbstractSolver", "SolverAnswer", "PanelSolver", "SolverRequest", "StepSolver"],
    "problem.clocks": ["Clock", "ContinuousClock", "StepClock", "StepNoise"],
    "problem.designs": [
        *("BinaryDesign", "Design", "GaussianDesign", "IIDDesign"),
        *("MatrixDesign", "RowDesign", "StudentDesign"),
    ],
    "problem.features": ["FeatureLaw", "Features", "PowerLaw", "Spectrum"],
    "problem.laws": [
        *("Bernoulli", "BernoulliGauss", "Empirical", "Independent", "Law"),
        *("Normal", "PointMass", "SparseRademacher", "Strata", "Target"),
    ],
    "problem.models": ["DiagonalLinear", "Linear", "Model", "Reparametrized"],
    "problem.noun": ["from_dict"],
    "problem.losses": ["CustomLoss", "HuberLoss", "LogisticLoss", "Loss", "Moments", "SquaredLoss"],
    "problem.preparation": ["Prepared", "prepare"],
    "problem.tasks": ["Classification", "Dataset", "GeneralizedLinear", "Regression", "Task"],
    "problem.trainings": ["GradientDescent", "GradientFlow", "Langevin", "StochasticGradientDescent", "Training"],
    "program_cache": ["keep_programs"],
    "sweeps.table": ["Failure", "Table", "open_sweep"],
    "sweeps.verb": ["sweep"],
    "sweeps.local": ["local_cluster"],
    "verbs.check": ["Trust", "check"],
    "verbs.citation": ["citation"],
    "verbs.compare": ["Comparison", "compare"],
    "verbs.conformance": ["Conformance", "ConformanceRow", "conform"],
    "verbs.debias": ["debias"],
    "verbs.derivative": ["derivative"],
    "verbs.draw": ["draw"],
    "verbs.estimate": ["estimate_test_error"],
    "verbs.estimating": ["StrainWarning"],
    "verbs.scaling": ["Scaling", "scaling"],
    "verbs.select": ["select"],
    "verbs.simulate": ["simulate"],
    "verbs.solve": ["AccuracyWarning", "solve_dmft"],
    "verbs.storage": ["load", "save"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_ROOMS = ["plot"]

__all__ = ["__version__", *sorted(_HOME_OF), *_ROOMS]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(importlib.import_module(f".{_HOME_OF[name]}", __name__), name)
    if name in _ROOMS:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'flowlimit' has no attribute {name!r}{_hint(name)}")


def _hint(name: str) -> str:
    if name.startswith("_"):  # Python's own questions
        return ""
    from .words import NAMES, hint

    return hint(name, [*_HOME_OF, *_ROOMS], NAMES, before="fl.")


def __dir__() -> list[str]:
    return __all__
