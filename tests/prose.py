"""Lint what people read: pages, docstrings and ``--help``. Prints one line for each finding; exits non-zero on any.

    python tests/prose.py [FILE ...]

Rules of our own vocabulary are in `RULES`; of proselint's checks those of `PROSELINT` are used.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import typer
from pages import HIDDEN, ROOT, pages, prose

from flowlimit.cli.app import app

COUNT = r"(?:one|two|three|four|five|six|eight|ten|\d[\d.]*)"
UNIT = (
    r"(?:hundreds|thousands|millions|s|ms|[kMG]?B|seconds|minutes|hours|bytes|nodes|numbers|parameters|threads|points"
    r"|paths|samples|steps|normals|entries|values|terms|mark|method)"
)
COUNTED = (
    r"(?!(?:is|are|as|in|at|on|of|to|by|for|with|and|or|that|has|from|over|between|adds|makes?|becomes?|takes?|needs?"
    r"|gives?)\b)[a-z]+"
)
EACH = (
    r"(?:run|trial|path|step|coordinate|sample|node|point|file|session|figure|job|chunk|worker|device|solve|panel|replica"
    r"|process|core|machine|day|second|minute|hour|problem|row|weight|parameter|direction|model|layer|stratum|table|module"
    r"|verb|curve|kernel|block|thread|test|page|store|shard)"
)
WHOSE = r"(?:the|a|an|its|their|each|every|one|of)"
KIND = (
    r"(?:small|large|smaller|larger|smallest|largest|best|middle|moderate|extreme|random|correlated|several|good"
    r"|neighbouring)"
)
MOVING = r"(?:training|flows?|descent|paths?|weights|data|dynamics|network)"


@dataclass(frozen=True)
class Rule:
    """Words that are not used, and what to write instead."""

    name: str
    pattern: str
    instead: str


RULES = (
    Rule("per", rf"\b(?:{COUNT}(?: {COUNTED}){{0,2}}|{UNIT}) an? {EACH}\b", "write 'per'"),
    Rule(
        "start",
        rf"\b{KIND} starts?\b|\b{WHOSE} starts?\b|\bstart(?:s|ed)? (?:at (?!the)|from|large|small)\b|\bto starts\b",
        "the state at time 0 is the 'initialisation', a number there the 'initial value'",
    ),
    Rule(
        "end",
        rf"\b(?:its|their|own) ends?\b|\bat the end\b(?! of)|\bin the end\b|\b{MOVING} (?:will |would )?ends?\b"
        rf"|\bends? (?:like|sooner|later|sparse)\b|\bends? of (?:training|gradient flow|the flow|simulated)"
        rf"|\bends? at (?:an?|the) \S* ?(?:minimi|solution)|\bwhere (?:it|they|training) (?:will )?ends?\b",
        "the state at infinite time is the 'fixed point'; otherwise say which time or value",
    ),
    Rule("room", r"\brooms?\b", "'package' for a folder of code, 'space' or 'memory' for arrays"),
    Rule("own", r"\bof (?:its|their|one's|our|my|his) own\b", "say 'separate', 'independent', or leave it out"),
    Rule(
        "own",
        r"(?<!of\s)\b(?:its|their|our|one's) own\b",
        "leave 'own' out where nothing is contrasted ('each ... its own' is a contrast)",
    ),
    Rule(
        "aphorism",
        r"\bTruth first\b|\bonce and for all\b|\bno time at all\b|\bfor free\b|\bnothing is (?:ever )?\w+ twice\b"
        r"|\bis news\b|\bthat is all there is\b|\bnothing more, nothing less\b|\bat their word\b",
        "say the fact plainly",
    ),
)

GAP = r"(?:[ \t]+|[ \t]*\n[ \t]*)"
"""Between two words: spaces or the end of a line, not of a paragraph."""

ALLOWED: dict[str, str] = {}
"""Phrases that a rule finds and that stay, with the reason."""

PROSELINT = (
    *("annotations", "archaism", "cliches", "hedging", "lexical_illusions", "malapropisms", "misc", "mixed_metaphors"),
    *("mondegreens", "needless_variants", "nonwords", "oxymorons", "redundancy", "skunked_terms", "spelling"),
    *("terms", "uncomparables", "weasel_words"),
)
"""Its checks of words. Those of typography ask for curly quotes, those of dates and society have no use here."""


@dataclass(frozen=True)
class Text:
    """Prose from one place; ``line`` is where its first line stands in the file."""

    where: str
    line: int
    text: str


def page_texts(path: Path) -> Iterator[Text]:
    """Yield a page, with all but its prose hidden."""
    yield Text(_name(path), 1, prose(path.read_text()))


def docstrings(path: Path) -> Iterator[Text]:
    """Yield a module with all but its docstrings hidden, those after assignments included, examples not."""
    source = path.read_text().split("\n")
    kept = ["" for _ in source]
    for node in ast.walk(ast.parse("\n".join(source))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines = slice(node.lineno - 1, node.end_lineno)
            kept[lines] = [line.strip() for line in source[lines]]  # indented lines are no code here
    yield Text(_name(path), 1, prose(_without_examples("\n".join(kept).replace('"""', "   "))))


def helps() -> Iterator[Text]:
    """Yield what the command prints for ``--help``: of itself, of each verb and of each of their flags."""
    root = typer.main.get_command(app)
    yield Text("flowlimit --help", 1, root.help or "")
    for name, verb in sorted(root.commands.items()):  # pyright: ignore[reportAttributeAccessIssue]
        for number, said in enumerate([verb.help, *(getattr(flag, "help", None) for flag in verb.params)]):
            yield Text(f"flowlimit {name} --help", number, prose(said or ""))


def findings(text: Text) -> Iterator[str]:
    """Yield one line for each word or phrase that a rule finds."""
    for at, name, found, instead in sorted([*ours(text.text), *_proselint(text.text)]):
        if " ".join(found.split()) not in ALLOWED:
            line = text.line + text.text.count("\n", 0, at)
            yield f"{text.where}:{line}: {name}: {' '.join(found.split())!r}: {instead}"


def ours(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Yield what our rules find: where, the rule, the words, and what to write instead."""
    for rule in RULES:
        for found in re.finditer(rule.pattern.replace(" ", GAP), text, flags=re.IGNORECASE):
            if not (rule.name == "own" and _contrasted(text, found)):
                yield found.start(), rule.name, found.group(), rule.instead


def _contrasted(text: str, found: "re.Match[str]") -> bool:
    """Whether "its own" stands after "each" or "every" in its sentence: one for each, not one for all."""
    sentence = re.split(r"[.:;?]\s|\n\n|\|", text[: found.start()])[-1]
    return not found.group().startswith("of") and re.search(r"\b(?:each|every)\b", sentence, re.IGNORECASE) is not None


def _proselint(text: str) -> Iterator[tuple[int, str, str, str]]:
    from proselint.tools import LintFile

    _register()
    for result in LintFile(source="<text>", content=text).lint(_CONFIG) if text.strip() else ():
        check = result.check_result
        first, last = (max(at - 1, 0) for at in check.span)  # it puts an empty line before the text
        found = text[first:last].strip()
        if check.check_path != "lexical_illusions" or _repeated(found):
            yield first, check.check_path, found, check.message.split("\n")[0]


def _repeated(found: str) -> bool:
    """Whether words stand twice: a name before its meaning, digits in groups and formulas are no repetition."""
    words = found.split()
    half = len(words) // 2
    return len(found) > 3 and words[:half] == words[half : 2 * half] and re.search(r"\n\s*\n|\d|_", found) is None


@cache
def _register() -> None:
    from proselint.checks import __register__ as checks
    from proselint.registry import CheckRegistry

    CheckRegistry().register_many(checks)


_CONFIG: Any = {"max_errors": 10_000, "checks": dict.fromkeys(PROSELINT, True)}


def _without_examples(text: str) -> str:
    """Hide examples with their output, and the lines under headings."""
    hide = lambda found: re.sub(r"[^\n]", HIDDEN, found.group())
    return re.sub(r"^\s*(?:>>>.*(?:\n[ \t]*\S.*)*|-{3,}|\.\. .*)$", hide, text, flags=re.MULTILINE)


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def texts(files: list[Path]) -> Iterator[Text]:
    """Yield the prose of some files."""
    for path in files:
        yield from docstrings(path) if path.suffix == ".py" else page_texts(path)


def main(named: list[str]) -> int:
    """Lint the files named, or everything."""
    source = sorted((ROOT / "src/flowlimit").rglob("*.py"))
    known = [*pages(), *source]
    asked = [Path(name).resolve() for name in named]
    found = [line for text in texts([path for path in known if not named or path in asked]) for line in findings(text)]
    if not named:
        found += [line for text in helps() for line in findings(text)]
    print(*found, f"prose: {len(found)} findings", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
