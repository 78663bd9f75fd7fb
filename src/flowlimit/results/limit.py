"""The record of a high-dimensional limit: curves with error bars, kernels, operators, and paths of the single site."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from .answer import Answer
from .labelled import curves_dataset, dataset, parts_dataset, samples_dataset
from .outcome import Outcome
from .record import Curve, Curves, Times
from .same import Comparable
from .stats import SolveStats

if TYPE_CHECKING:
    import xarray

KERNELS = ("C_w", "C_f", "R_w", "R_f")
PAIR = ("t", "s", "output", "output_")
"""Axes of a kernel; the last two for several outputs."""
PARTS = ("statistical", "bias", "time_error")
"""Parts of a standard error."""
Square = Float[np.ndarray, "nodes nodes"]
Kernel = Float[np.ndarray, "nodes nodes *outputs"]
Sampled = Float[np.ndarray, "nodes *outputs paths"]


@dataclass(frozen=True, repr=False, eq=False)
class Kernels(Comparable):
    """Values of the kernels at pairs of node times, rows t, columns s, with the spread of their mean as ``stderr``.

    Responses R(t, s) vanish for s > t and jump at s = t; the diagonal holds the limit from s < t. Inside a diagonal
    panel, values come from the polynomial in (t, s) whose integrals fit the operator; elsewhere they are the operator
    over the integration weight. For gradient descent a response is per unit of time: operator over step size. Kernels
    of a model with several outputs have two more axes for them.
    """

    times: Times
    C_w: Kernel
    C_f: Kernel
    R_w: Kernel
    R_f: Kernel
    stderr: Mapping[str, Kernel] = field(default_factory=dict)

    def to_xarray(self) -> "xarray.Dataset":
        """Return the kernels with axes t and s, and their standard errors, as a labelled data set."""
        errors = [(f"{name}_stderr", PAIR[: value.ndim], value) for name, value in self.stderr.items()]
        return dataset([*_pairs(self, KERNELS), *errors], {"t": self.times, "s": self.times})

    def __repr__(self) -> str:
        return f"Kernels {', '.join(KERNELS)} at pairs of {_span(self.times)}"


@dataclass(frozen=True, repr=False, eq=False)
class Operators(Comparable):
    """Matrices over the nodes: (R_w u)(t_i) is the integral of R_w(t_i, s) u(s) ds, likewise R_f; S is integration.

    ``weights`` integrate over all times. They act on values at ``times``, exactly so for polynomials on a panel.
    """

    times: Times
    weights: Times
    S: Square
    R_w: Kernel
    R_f: Kernel

    def to_xarray(self) -> "xarray.Dataset":
        """Return the matrices with axes t and s, and the weights along s, as a labelled data set."""
        arrays = [("weights", ("s",), self.weights), *_pairs(self, ("S", "R_w", "R_f"))]
        return dataset(arrays, {"t": self.times, "s": self.times})

    def __repr__(self) -> str:
        return f"Operators S, R_w, R_f over {_span(self.times)}"


@dataclass(frozen=True, repr=False, eq=False)
class PathSample(Comparable):
    """Paths of the single site from one replica: rows are times, columns paths, each with its probability.

    Several outputs or teachers have an axis between the two.
    """

    times: Times
    w: Sampled
    g: Sampled
    z: Sampled
    w_star: Float[np.ndarray, "*teachers paths"]
    probability: Float[np.ndarray, "paths"]
    edges: Float[np.ndarray, "_"] | None = None  # of the panels; None for steps
    variance: Float[np.ndarray, "paths"] | None = None  # of a path's feature; None where all are 1

    def weights_at(self, time: float) -> Float[np.ndarray, "*outputs paths"]:
        """Return w(t) of all paths: polynomial in a panel, the nearest step of gradient descent."""
        if not 0.0 <= time <= self._end * (1.0 + 1e-9):
            raise ValueError(f"time: given {time:g}, the paths cover 0 to {self._end:g}")
        if self.edges is None:
            return self.w[np.abs(self.times - time).argmin()]
        order = len(self.times) // (len(self.edges) - 1)
        panel = int(np.clip(np.searchsorted(self.edges, time) - 1, 0, len(self.edges) - 2))
        own = slice(panel * order, (panel + 1) * order)
        nodes = self.times[own]
        return np.array([_cardinal(nodes, j, time) for j in range(order)]) @ self.w[own]

    def to_xarray(self) -> "xarray.Dataset":
        """Return the paths with axes time and path as a labelled data set."""
        over = ("time", "output", "path") if self.w.ndim == 3 else ("time", "path")
        arrays: list[Any] = [(name, over, getattr(self, name)) for name in ("w", "g", "z")]
        arrays.append(("w_star", ("teacher", "path")[-self.w_star.ndim :], self.w_star))
        arrays.append(("probability", ("path",), self.probability))
        arrays += [] if self.edges is None else [("edges", ("edge",), self.edges)]
        arrays += [] if self.variance is None else [("variance", ("path",), self.variance)]
        return dataset(arrays, {"time": self.times})

    def __repr__(self) -> str:
        return f"PathSample: w, g and z of {self.w.shape[-1]} paths at {_span(self.times)}"

    @property
    def _end(self) -> float:
        return float(self.times[-1] if self.edges is None else self.edges[-1])


def _pairs(of: Any, names: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...], np.ndarray]]:
    for name in names:
        yield name, PAIR[: getattr(of, name).ndim], getattr(of, name)


def _span(times: np.ndarray) -> str:
    ends = f", {times[0]:.4g} to {times[-1]:.4g}" if len(times) else ""
    return f"{len(times)} times{ends}"


def _cardinal(nodes: np.ndarray, j: int, t: float) -> float:
    others = np.delete(nodes, j)
    return float(np.prod((t - others) / (nodes[j] - others)))


@dataclass(frozen=True, repr=False, eq=False)
class Limit(Answer):
    """The limit n, d -> infinity of a training.

    Every curve is an attribute with its standard error: ``limit.test_error`` and ``limit.test_error_stderr``,
    ``limit.loss``, ``limit.norm_1``, or the name of an observable.

    Attributes
    ----------
    times
        Saved times.
    values
        Name of a curve -> array of shape (replicas, times): whole solves, each with its own paths.
    discrete
        True for gradient descent.
    statistical, bias, time_error
        Name of a curve -> parts of its standard error: the spread of the replicas' mean with the Student factor, the
        bias they share, and what the panels leave unresolved in time (and a numerical integral in a custom loss's test
        error). ``_stderr`` is their root sum of squares.
    result
        Outcome code and message; the message is empty on success.
    stats
        Paths, nodes, replicas, panels, seconds: see `SolveStats`.
    provenance
        Version, key and problem as a plain dictionary.
    kernels, operators, paths
        See `Kernels`, `Operators`, `PathSample`. None of steps of which old ones are merged, see `fl.StepSolver`.
    model, task, training
        The nouns it was solved for. None if it was read from a file and they hold functions or data, which files do not
        keep: give them to `fl.load`.
    """

    times: Times
    values: Mapping[str, Float[np.ndarray, "replicas times"]]
    discrete: bool
    statistical: Mapping[str, Times] = field(default_factory=dict)
    bias: Mapping[str, Times] = field(default_factory=dict)
    time_error: Mapping[str, Times] = field(default_factory=dict)
    result: Outcome = field(default_factory=Outcome)
    stats: SolveStats = field(compare=False, default_factory=SolveStats)
    provenance: Mapping[str, Any] = field(compare=False, default_factory=dict)
    kernels: Kernels | None = None
    operators: Operators | None = None
    paths: PathSample | None = None
    model: Any = field(compare=False, default=None)
    task: Any = field(compare=False, default=None)
    training: Any = field(compare=False, default=None)

    @property
    def replicas(self) -> int:
        """Number of whole solves behind the means."""
        return len(next(iter(self.values.values())))

    @property
    def unkept(self) -> str:
        """Why there are no kernels, operators or paths, with what to do."""
        if self.result.message or not (self.discrete and self.stats.nodes):
            return self.result.message or "none were kept"
        return (
            f"of {self.stats.nodes} steps old ones are merged; to keep all of them solve with "
            f"solver=fl.StepSolver(whole_history={self.stats.nodes})"
        )

    @cached_property
    def curves(self) -> Mapping[str, Curve]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Means over replicas with their standard errors, all parts included."""
        parts = (self.statistical, self.bias, self.time_error)
        mean = lambda value: (
            value.mean(axis=0) if len(value) else np.full(value.shape[1:], np.nan)
        )  # out of time at once
        return {
            name: Curve(mean(value), np.sqrt(sum(part[name] ** 2 for part in parts)))
            for name, value in self.values.items()
        }

    def time_averaged(self) -> Curves:
        """Return the errors of the averaged weights (1/t) int_0^t w(s) ds at the nodes, by integrals of C_w and C_f.

        Their standard errors treat the spread of a kernel as common to all its values, an upper bound.
        """
        if self.kernels is None or self.operators is None or self.discrete:
            raise ValueError("limit: given one without kernels, or of gradient descent; needs a solved flow")
        rows = self.operators.S / self.operators.times[:, None]
        average = lambda kernel: np.einsum("ti,ij,tj->t", rows, kernel, rows, optimize=True)
        kernels = {"train_error": "C_f", "test_error": "C_w"}
        error = {name: average(self.kernels.stderr[kernel]) for name, kernel in kernels.items()}
        # C_w is E[(w - w*)(w - w*)]; the test error adds the noise.
        noise = {"train_error": 0.0, "test_error": self._noise_var()}
        return Curves(
            self.operators.times,
            {
                name: Curve(average(getattr(self.kernels, kernel)) + noise[name], np.abs(error[name]))
                for name, kernel in kernels.items()
            },
            False,
        )

    def _noise_var(self) -> float:
        """Return the variance of the label noise that the problem was given."""
        task = self.problem.get("task", {})
        if "noise_var" not in task:
            raise ValueError("limit: given one whose provenance has no noise_var; needs one solved for fl.Regression")
        return float(task["noise_var"])

    def _groups(self) -> dict[str, Any]:
        """Return the groups of the tree: curves, replicas, errors by part, kernels, operators and paths."""
        own = {"curves": curves_dataset(self), "replicas": samples_dataset(self, "replica")}
        own |= {f"errors/{part}": parts_dataset(self.times, getattr(self, part)) for part in PARTS}
        inner = {name: getattr(self, name) for name in ("kernels", "operators", "paths")}
        return own | {name: value.to_xarray() for name, value in inner.items() if value is not None}

    def _heading(self) -> list[str]:
        """Return lines that say what this is."""
        stats = self.stats
        lines = [f"Limit: n, d -> infinity, {self.replicas} replicas of {stats.paths or '?'} paths per stratum"]
        lines += [f"  {text}" for text in self._summary()]
        if stats.nodes:
            lines.append(f"  {stats.nodes} nodes, rtol {stats.rtol:g}, {stats.seconds:.1f} s")
        if stats.held_from is not None:
            lines.append(f"  at rest from time {stats.held_from:.4g} on, where later values are from")
        if self.result.message:
            lines.append(f"  {self.result.code}: {self.result.message}")
        return lines
