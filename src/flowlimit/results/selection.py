"""The record of a choice among models and stopping times, by test errors that were estimated on one data set."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from .estimate import Estimate
from .format import uncertain
from .html import heading, table
from .labelled import dataset, make_tree
from .outcome import Outcome
from .record import Times
from .same import Comparable

if TYPE_CHECKING:
    import xarray

BARS = 2.0
"""Standard errors of a ratio's logarithm within which two estimates are not told apart."""
Errors = Float[np.ndarray, "models times"]
ESTIMATES = "estimates"
"""Group of a saved selection that its estimates are in, by their places."""


class Choice(NamedTuple):
    """The model, by its place in the list, and the time with the smallest estimated test error.

    ``optimism`` is by how much that smallest one of many estimates is too small on average, by draws of their errors:
    add it to ``test_error`` for what new samples will show.
    """

    place: int
    time: float
    test_error: float
    test_error_stderr: float
    optimism: float


@dataclass(frozen=True, repr=False, eq=False)
class Selection(Comparable):
    """Models on one data set, each with its estimated test error in time, and which of them to take and when to stop.

    Errors of the estimates are common to the models in large part, since all see the same samples and probes: a ratio
    of two estimates is known better than either of them, and is judged by the standard error of that ratio.

    Attributes
    ----------
    estimates
        One `Estimate` for each model, in the order that was given.
    times
        Saved times.
    choice
        Which model, and when to stop: see `Choice`. None if all models failed.
    ratio, ratio_stderr
        Estimated test error over that of the choice, and its standard error, of shape (models, times); NaN for models
        that failed, as their ``estimates[i].result`` says: these take no part in the choice.
    share
        For each model the probability that it is the best one at its best time, by draws of the estimates' errors.
    """

    estimates: tuple[Estimate, ...]
    times: Times
    choice: Choice | None
    ratio: Errors
    ratio_stderr: Errors
    share: Float[np.ndarray, "models"]

    @property
    def best(self) -> Estimate:
        """The estimate of the chosen model."""
        if self.choice is None:
            raise ValueError(f"selection: there is no time to choose: {self.result.code}: {self.result.message}")
        return self.estimates[self.choice.place]

    @property
    def model(self) -> Any:
        """The chosen model."""
        return self.best.model

    @property
    def weights(self) -> Float[np.ndarray, "dim"]:
        """Weights of the chosen model at the chosen time."""
        return self.best.stopped_weights

    @property
    def within(self) -> Bool[np.ndarray, "models times"]:
        """Which models and times are not told apart from the choice: ratios within two standard errors of 1."""
        return np.log(self.ratio) <= BARS * self.ratio_stderr / self.ratio

    @property
    def result(self) -> Outcome:
        """How it ended: the first outcome that is no success, if there is one."""
        return next((one.result for one in self.estimates if one.result.message), Outcome())

    @property
    def names(self) -> list[str]:
        """The models in words."""
        return [one.provenance.get("summary", {}).get("model", repr(one.model)) for one in self.estimates]

    def curve(self, name: str) -> Errors:
        """Return a curve or its standard error of all models; NaN at times that a model did not reach."""
        values = np.full(self.ratio.shape, np.nan)
        for row, one in zip(values, self.estimates, strict=True):
            found = getattr(one, name)
            row[: len(found)] = found
        return values

    def numbers(self) -> dict[str, Any]:
        """Return models, times, curves and errors, ratios, and the choice."""
        chosen = {} if self.choice is None else {f"choice_{name}": one for name, one in self.choice._asdict().items()}
        return {"model": self.names, "time": self.times} | dict(self._arrays()) | {"share": self.share} | chosen

    def columns(self) -> dict[str, list[Any]]:
        """Return a table with one row per model and time."""
        models, times = self.ratio.shape
        first = {"model": np.repeat(np.array(self.names, dtype=object), times), "time": np.tile(self.times, models)}
        return {name: value.ravel().tolist() for name, value in (first | dict(self._arrays())).items()}

    def to_xarray(self) -> "xarray.Dataset":
        """Return curves, standard errors and ratios over models and times, as a labelled data set."""
        arrays = [(name, ("model", "time"), value) for name, value in self._arrays().items()]
        coords = {"model": np.array(self.names), "time": self.times}
        return dataset([*arrays, ("share", ("model",), self.share)], coords)

    def to_datatree(self) -> "xarray.DataTree":
        """Return everything as a tree of labelled data sets, with a branch for each estimate: what `fl.save` writes."""
        own = make_tree(
            {"curves": self.to_xarray().drop_vars("model")},
            {"kind": type(self).__name__, "choice": json.dumps(self.choice)},
        )
        for index, one in enumerate(self.estimates):
            own[f"{ESTIMATES}/{index}"] = one.to_datatree()
        return own

    def _arrays(self) -> Mapping[str, np.ndarray]:
        curves = ("train_error", "test_error", "test_error_stderr")
        ratios = {"ratio": self.ratio, "ratio_stderr": self.ratio_stderr, "within": self.within.astype(int)}
        return {name: self.curve(name) for name in curves} | ratios

    def _heading(self) -> list[str]:
        first = self.estimates[0]
        size = f"{first.stats.samples} samples, dim {first.stats.dim}, {first.stats.probes} probes"
        lines = [f"Selection: {len(self.estimates)} models, {len(self.times)} times, {size}"]
        if self.choice is not None:
            error = uncertain(self.choice.test_error, self.choice.test_error_stderr)
            lines.append(f"  choice: {self.names[self.choice.place]}, stopped at {self.choice.time:.4g}")
            lines.append(f"  test_error={error}, of many the smallest: about {self.choice.optimism:.1g} too small")
        lines += [f"  strained: {text}" for text in first.strains]
        for name, one in zip(self.names, self.estimates, strict=True):
            if one.result.message:
                lines.append(f"  {name}: {one.result.code}: {one.result.message}")
        return lines

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        """Return one row per model: when to stop, its error there, and that over the error of the choice."""
        head = ["model", "stop at", "from", "to", "test_error", "over the choice's", "best with", "within"]
        return head, [self._row(i) for i in range(len(self.estimates))]

    def _row(self, index: int) -> list[str]:
        name, stopping = self.names[index], self.estimates[index].stopping
        if stopping is None or not np.isfinite(self.ratio[index]).any():
            return [name, *["-"] * 7]
        at = int(np.abs(self.times - stopping.time).argmin())
        ratio = uncertain(float(self.ratio[index, at]), float(self.ratio_stderr[index, at]))
        chosen = self.choice is not None and index == self.choice.place
        words = "chosen" if chosen else "yes" if self.within[index, at] else "no"
        return [
            name,
            *(f"{time:.4g}" for time in (stopping.time, stopping.low, stopping.high)),
            uncertain(stopping.test_error, stopping.test_error_stderr),
            "1" if chosen else ratio,
            f"{self.share[index]:.0%}",
            words,
        ]

    def __repr__(self) -> str:
        head, rows = self._rows()
        cells = [head, *rows]
        widths = [max(len(row[j]) for row in cells) for j in range(len(head))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
        return "\n".join([*self._heading(), *lines])

    def _repr_html_(self) -> str:
        return f"<div>{heading(self._heading())}{table(*self._rows())}</div>"
