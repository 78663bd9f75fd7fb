"""The gallery of the paper's figures with their verdicts, written before the pages are read.

Where FLOWLIMIT_PAPER names a folder that `flowlimit paper` has filled, as in `.ci/run`, its figures are shown; else
they are computed here, at their small size.
"""

import os
import shutil
from pathlib import Path

from flowlimit.paper import reproduce
from flowlimit.paper.report import read_entries

DOCS = Path(__file__).parent
PICTURES = DOCS / "_made/paper"
HEAD = """# Gallery: the paper's figures

Every figure below was computed by this version of the package when this page was made, at {size},
and each claim was judged by a number. [](paper.md) says how, and has the verdicts of the last run at full size.

"""


def write_gallery(_app):
    """Write the page and copy its pictures."""
    shutil.rmtree(PICTURES, ignore_errors=True)
    made = Path(os.environ.get("FLOWLIMIT_PAPER") or PICTURES)
    if made == PICTURES:
        reproduce(out=made, quick=True)
    PICTURES.mkdir(parents=True, exist_ok=True)
    entries = [entry for entry in read_entries(made) if entry.file.endswith(".png")]
    for entry in entries:
        if made != PICTURES:
            shutil.copy(made / entry.file, PICTURES)
    small = any(entry.quick for entry in entries)
    head = HEAD.format(size="a small size (`flowlimit paper --quick`)" if small else "full size")
    (DOCS / "gallery.md").write_text(head + "\n".join(map(section, entries)))


def section(entry):
    """Return a figure with its verdicts as a table."""
    rows = [f"| {verdict.claim} | {verdict} | {word(verdict)} |" for verdict in entry.verdicts]
    table = ["| claim | measured | verdict |", "|---|---|---|", *rows]
    picture = [f"```{{image}} _made/paper/{entry.file}", f":alt: {entry.shows}", ":width: 100%", "```"]
    title = entry.shows[0].upper() + entry.shows[1:]
    return "\n".join([f"## {title}", "", *picture, "", f"`{entry.command}`", "", *table, ""])


def word(verdict):
    """Return whether a claim holds, with the note on it."""
    return ("holds" if verdict.holds else "**does not hold**") + (f": {verdict.note}" if verdict.note else "")
