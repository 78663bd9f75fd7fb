"""What became of each figure: kept as one file per figure, and summed up as Markdown and JSON."""

import datetime
import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from .. import __version__
from ..numerics.devices import usable_cores
from .book import BOOK
from .verdict import Verdict


@dataclass(frozen=True)
class Entry:
    """A figure that was made: its picture's file, verdicts, seconds of all its experiments, and size."""

    label: str
    shows: str
    file: str
    verdicts: list[Verdict]
    seconds: float
    quick: bool

    @property
    def command(self) -> str:
        """What makes it again."""
        return f"flowlimit paper {self.label}" + (" --quick" if self.quick else "")

    @property
    def holds(self) -> bool:
        """Whether all claims hold."""
        return all(verdict.holds for verdict in self.verdicts)


def write_entry(out: Path, entry: Entry) -> None:
    """Keep what became of a figure."""
    folder = out / "entries"
    folder.mkdir(exist_ok=True)
    (folder / f"{entry.label.replace(':', '_')}.json").write_text(json.dumps(asdict(entry), indent=1))


def read_entries(out: Path) -> list[Entry]:
    """Return all figures made so far, in the paper's order."""
    order = {figure.label: place for place, figure in enumerate(BOOK)}
    found = [json.loads(path.read_text()) for path in (out / "entries").glob("*.json")]
    entries = [Entry(**(own | {"verdicts": [Verdict(**one) for one in own["verdicts"]]})) for own in found]
    return sorted(entries, key=lambda entry: order.get(entry.label, len(order)))


def write_summary(out: Path, entries: Sequence[Entry]) -> None:
    """Write ``summary.md`` and ``summary.json``."""
    made = {"date": datetime.date.today().isoformat(), "machine": _machine(), "version": __version__}
    rows = [
        {
            "panel": verdict.panel,
            "claim": verdict.claim,
            "figure": entry.file,
            "measured": str(verdict),
            "holds": verdict.holds,
            "note": verdict.note,
            "seconds": round(entry.seconds, 1),
            "command": entry.command,
        }
        for entry in entries
        for verdict in entry.verdicts
    ]
    (out / "summary.json").write_text(json.dumps({"made": made, "rows": rows}, indent=1))
    lines = [f"Made {made['date']} with flowlimit {made['version']} on {made['machine']}.", ""]
    lines += ["| panel | claim | measured | verdict | seconds | command |", "|---|---|---|---|---|---|"]
    for row in rows:
        verdict = ("holds" if row["holds"] else "**does not hold**") + (f": {row['note']}" if row["note"] else "")
        cells = (row["panel"], row["claim"], row["measured"], verdict, f"{row['seconds']:.0f}", f"`{row['command']}`")
        lines.append("| " + " | ".join(cells) + " |")
    (out / "summary.md").write_text("\n".join(lines) + "\n")


def _machine() -> str:
    return f"{usable_cores()} cores, {platform.machine()}, Python {platform.python_version()}"
