"""Read a Markdown page as its readers do: blocks of code on one side, sentences on the other.

Kept free of pytest and of packages, since the journeys run in an environment that has the wheel and nothing else.
"""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^ *(?P<fence>`{3,}|:{3,})\s*(?P<language>\{?[\w-]*\}?)")
CELL = "{code-cell}"
INDENTED = "indented"
HIDDEN = "·"
"""Takes the place of what is no prose; no rule about words matches it."""
NO_PROSE = re.compile(
    r"<!--.*?-->|``.+?``|`[^`\n]*(?:\n[^`\n]+)?`|\$\$.+?\$\$|\$[^$\n]+(?:\n[^$\n]+)?\$"
    r"|(?<=\])\([^)\s]+\)|https?://\S+|\{[a-z:]+\}(?=`|·)",
    flags=re.DOTALL,
)
"""Comments, code, formulas, addresses of links and names of roles inside a paragraph."""


def pages() -> list[Path]:
    """Return the pages that people write: those that the build of the docs makes are not in git."""
    made = [ROOT / path for path in MADE]
    written = [page for page in sorted((ROOT / "docs").rglob("*.md")) if not any(page.is_relative_to(m) for m in made)]
    return [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *written]


MADE = {
    "docs/matrix.md": "docs/matrix.py",
    "docs/gallery.md": "docs/gallery.py",
    "docs/_made": "docs/pictures.py",
    "docs/api/names.md": "docs/names.py",
    "docs/tutorials/notebooks": "docs/notebooks.py",
    "docs/auto_examples": "docs/conf.py",
    "docs/api/generated": "docs/conf.py",
    "docs/_build": "docs/conf.py",
}
"""What the build of the docs makes, and the script that makes it."""


@dataclass(frozen=True)
class Block:
    """Code in a page: its language as written after the fence, its first line, its text with the fences."""

    language: str
    line: int
    code: str


def blocks(text: str) -> list[Block]:
    """Return the blocks of code of a page in order, fenced with backticks or indented by four spaces."""
    return [block for block in _parts(text) if isinstance(block, Block)]


def prose(text: str) -> str:
    """Return a page of the same length and lines in which everything but prose is hidden."""
    lines = [part if isinstance(part, str) else _hidden(part) for part in _parts(text)]
    return NO_PROSE.sub(lambda found: re.sub(r"[^\n]", HIDDEN, found.group()), "\n".join(lines))


def _parts(text: str) -> Iterator["str | Block"]:
    """Yield lines of prose, and blocks with all their lines; fences and front matter are blocks without a language."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        size, part = _front(lines, at) or _fenced(lines, at) or _indented(lines, at) or (1, lines[at])
        yield part
        at += size


def _front(lines: list[str], at: int) -> tuple[int, Block] | None:
    if at or lines[0] != "---":
        return None
    size = lines.index("---", 1) + 1
    return size, Block("front", 1, "\n".join(lines[:size]))


def _fenced(lines: list[str], at: int) -> tuple[int, Block] | None:
    """Return a fence of backticks with what is in it, or the one line of a fence of colons, which holds prose."""
    opened = FENCE.match(lines[at])
    if opened is None:
        return None
    if opened["fence"].startswith(":"):
        return 1, Block("colons", at + 1, lines[at])
    size = 1
    while at + size < len(lines) and lines[at + size].strip() != opened["fence"]:
        size += 1
    return size + 1, Block(opened["language"], at + 1, "\n".join(lines[at : at + size + 1]))


def _indented(lines: list[str], at: int) -> tuple[int, Block] | None:
    """Return an indented block, which has an empty line before it; lines that go on with a list have none."""
    if not lines[at].startswith("    ") or (at and lines[at - 1].strip()):
        return None
    size = 0
    while at + size < len(lines) and (lines[at + size].startswith("    ") or not lines[at + size].strip()):
        size += 1
    while not lines[at + size - 1].strip():
        size -= 1
    return size, Block(INDENTED, at + 1, "\n".join(lines[at : at + size]))


def _hidden(block: Block) -> str:
    return "\n".join(HIDDEN * len(line) for line in block.code.split("\n"))


def inside(block: Block) -> str:
    """Return the code of a block without its fences, options of cells and indentation."""
    lines = block.code.split("\n")
    if block.language == INDENTED:
        return "\n".join(line[4:] for line in lines)
    return textwrap.dedent("\n".join(line for line in lines[1:-1] if not line.lstrip().startswith(":")))
