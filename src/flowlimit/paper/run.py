"""Make figures: compute or read what is cached, draw, judge, and write the summary."""

import time
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from ..simulation import checked_draws
from ..verbs.progress import Progress
from .book import BOOK, Figure, find
from .lab import Lab
from .parameters import read_parameters
from .report import Entry, read_entries, write_entry, write_summary

ENDINGS = ("png", "pdf")


def reproduce(
    labels: Sequence[str] = (),
    *,
    out: Path,
    quick: bool = False,
    expression: str | None = None,
    executor: Any = None,
    progress: Progress = None,
    draws: str = "balanced",
) -> list[Entry]:
    """Reproduce figures, all unless some are named; return what became of each, with its verdicts.

    Pictures, ``summary.md`` and ``summary.json`` are written to ``out``; experiments are kept there, so that a call
    that was stopped goes on where it was. ``expression`` is the path of the paper's own real data, the UCI archive.
    ``progress`` is that of `sweep`, one after the other.
    """
    wanted = list(dict.fromkeys(find(label) for label in labels)) if labels else list(BOOK)
    lab = Lab(out, quick, expression, executor, progress, checked_draws(draws))
    out.mkdir(parents=True, exist_ok=True)
    for figure in wanted:
        write_entry(out, _make(figure, lab))
    entries = read_entries(out)
    write_summary(out, entries)
    return [entry for entry in entries if entry.label in {figure.label for figure in wanted}]


def _make(figure: Figure, lab: Lab) -> Entry:
    import matplotlib.pyplot as plt

    began = time.perf_counter()
    lab.spent.clear()
    module = figure.module
    parameters = read_parameters(figure.parameters, quick=lab.quick)
    if lab.expression is not None and hasattr(parameters, "source"):
        parameters.source = lab.expression
    data = module.compute(figure.label, lab, parameters)
    name = figure.label.replace(":", "_")
    with plt.style.context(str(resources.files("flowlimit.paper") / "paper.mplstyle")):
        file = _save(module.draw(figure.label, data), lab.folder / name)
    verdicts = module.judge(figure.label, data)
    seconds = max(time.perf_counter() - began, sum(lab.spent))
    return Entry(figure.label, figure.shows, file, verdicts, seconds, lab.quick)


def _save(drawn: Any, path: Path) -> str:
    """Write a picture or a table; return the name of its file, empty if there is none."""
    import matplotlib.pyplot as plt

    if drawn is None:
        return ""
    if isinstance(drawn, str):
        path.with_suffix(".md").write_text(drawn)
        return f"{path.name}.md"
    for ending in ENDINGS:
        drawn.savefig(path.with_suffix(f".{ending}"))
    plt.close(drawn)
    return f"{path.name}.png"
