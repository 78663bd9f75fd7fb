"""Where figures get their numbers: sweeps whose stores are kept, so that work is shared, cached and resumed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..simulation import Draws
from ..sweeps.table import Table
from ..sweeps.verb import sweep
from ..verbs.progress import Progress
from ..verbs.simulate import simulate


@dataclass(frozen=True)
class Lab:
    """A folder of stores, who computes, and the size of everything."""

    folder: Path
    quick: bool
    expression: str | None = None
    executor: Any = None
    progress: Progress = None
    draws: Draws = "balanced"
    """How targets and noise of simulations are drawn; the paper's own are "independent"."""
    spent: list[float] = field(default_factory=list)
    """Seconds of the experiments that were asked for, whenever they were computed."""

    def sweep(
        self,
        name: str,
        verb: Callable[..., Any],
        *nouns: Any,
        over: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
        **options: Any,
    ) -> Table:
        """Return a table, computed once: figures that name the same experiment share it."""
        size = "quick" if self.quick else "full"
        store = self.folder / "experiments" / f"{name}-{size}.zarr"
        shown = {"executor": self.executor, "progress": self.progress}
        table = sweep(verb, *nouns, over=over, store=store, **shown, **options)
        self.spent.append(float(table.seconds.sum()))
        return table

    def simulate(self, name: str, *nouns: Any, over: Any, **options: Any) -> Table:
        """Return a table of runs, with the draws that were asked for in the name of its store."""
        return self.sweep(f"{name}-{self.draws}", simulate, *nouns, over=over, draws=self.draws, **options)
