"""Where figures get their numbers: sweeps whose stores are kept, so that work is shared, cached and resumed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..sweeps import Table, sweep
from ..verbs.progress import Progress


@dataclass(frozen=True)
class Lab:
    """A folder of stores, who computes, and the size of everything."""

    folder: Path
    quick: bool
    expression: str | None = None
    executor: Any = None
    progress: Progress = False
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
