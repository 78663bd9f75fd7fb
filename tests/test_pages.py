"""Links, references and code of the pages point to what there is; nothing is fetched and nothing is run."""

import ast
import inspect
import re
import shlex
import subprocess
import sys
from typing import Any
from urllib.parse import urlsplit

import pytest
import typer
from pages import CELL, INDENTED, MADE, ROOT, blocks, inside, pages

import flowlimit as fl
from flowlimit.cli.app import app

PAGES = pages()
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
COMMAND: Any = typer.main.get_command(app)
REFUSED: Any = typer.BadParameter.__base__
"""Of click, or of the copy of it that newer versions of typer have."""
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
ROLE = re.compile(r"\{(doc|download)\}`(?:[^`<]*<)?([^`<>]+)>?`")
CARD = re.compile(r"^:link: (\S+)$", flags=re.MULTILINE)
DIRECTIVE = re.compile(r"^`{3,}\{(?:image|figure|include|literalinclude)\} (\S+)$", flags=re.MULTILINE)
FILE = re.compile(r"`(?:python |pytest )?((?:src|tests|docs|benchmarks|examples)/[\w./-]+?\.\w+)\b")
ARXIV = re.compile(r"arxiv\.org/(?:abs|pdf)/\d{4}\.\d{4,5}(?:v\d+)?$")
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
SHELL = (INDENTED, "", "console", "bash", "sh", "shell")
FORMER = {
    "fl.Check": "its new name is beside it",
    "fl.plot.end_law": "its new name is beside it",
    "flowlimit solve": "of an earlier day of the same version",
}
"""What the changelog names though it is gone, with the reason."""


def is_former(page, name):
    return page.name == "CHANGELOG.md" and name in FORMER


def every_page(test):
    return pytest.mark.parametrize("page", PAGES, ids=NAMES)(test)


def hidden_code(text):
    """Hide blocks of code, and keep what the prose of a page refers to."""
    for block in blocks(text):
        if not block.language.startswith("{") or block.language == CELL:
            text = text.replace(block.code, "")
    return text


def is_there(path):
    """Whether a path exists, or is made by the build from a source that exists."""
    made = next((name for name in MADE if path.is_relative_to(ROOT / name)), None)
    if made is None:
        return path.exists()
    sources = {
        "docs/auto_examples": lambda: path.stem == "index" or (ROOT / f"examples/{example_of(path)}.py").exists(),
        "docs/tutorials/notebooks": lambda: (ROOT / f"docs/tutorials/{path.stem}.md").exists(),
    }
    return (ROOT / MADE[made]).exists() and sources.get(made, lambda: True)()


def example_of(path):
    """Return the name of the example whose page or first picture a path is."""
    return path.stem.removeprefix("sphx_glr_").removesuffix("_001")


def anchors(page):
    """Return the anchors of a page: those of its headings, as GitHub and MyST make them, and its labels."""
    text = hidden_code(page.read_text())
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}
    return slugs | set(re.findall(r"^\(([\w-]+)\)=$", text, flags=re.MULTILINE))


def test_what_is_made_has_its_script():
    assert all((ROOT / script).exists() for script in MADE.values())


@every_page
def test_links(page):
    for target in LINK.findall(hidden_code(page.read_text())):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert is_there(path), f"{target}: no such file"
        assert not anchor or anchor in anchors(path), f"{target}: no such heading"


@every_page
def test_external_links(page):
    for address in LINK.findall(page.read_text()):
        if "://" in address:
            parts = urlsplit(address)
            assert parts.scheme == "https", f"{address}: needs https"
            assert re.fullmatch(r"[\w-]+(\.[\w-]+)+", parts.netloc), f"{address}: no such host"
            assert parts.netloc != "arxiv.org" or ARXIV.search(address), f"{address}: no arXiv identifier"


@every_page
def test_references(page):
    """Documents and downloads by role, cards, tables of contents, and files that directives read."""
    text = page.read_text()
    documents = [name for kind, name in ROLE.findall(text) if kind == "doc"] + CARD.findall(text)
    for block in blocks(text):
        if block.language == "{toctree}":
            documents += inside(block).split()
    files = [name for kind, name in ROLE.findall(text) if kind == "download"] + DIRECTIVE.findall(text)
    for path in [(page.parent / f"{name}.md") for name in documents] + [page.parent / name for name in files]:
        assert is_there(path.resolve()), f"{path}: no such file"


@every_page
def test_files_that_are_named(page):
    for name in FILE.findall(page.read_text()):
        assert is_there(ROOT / name), f"{name}: no such file"


def python_blocks(text):
    """Yield the blocks of a page that are Python: cells, fences, and indented lines about the package."""
    for block in blocks(text):
        code = inside(block)
        shown = block.language == INDENTED and "fl." in code and not code.startswith("python ")
        if block.language in (CELL, "python") or block.code.startswith("```{code-block} python") or shown:
            yield block.line, code


@every_page
def test_python(page):
    for line, code in python_blocks(page.read_text()):
        try:
            tree = compile(code, page.name, "exec", flags=ast.PyCF_ONLY_AST)
        except SyntaxError as error:
            raise AssertionError(f"{page.name}:{line + (error.lineno or 0)}: {error.msg}") from error
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and (name := dotted(node)):
                assert is_public(name), f"{page.name}:{line + node.lineno}: {name} is no public name"
            if isinstance(node, ast.Call) and (name := dotted(node.func)) and is_public(name):
                unknown = unknown_keywords(name, node)
                assert not unknown, f"{page.name}:{line + node.lineno}: {name} has no {unknown}"


def dotted(node):
    """Return "fl.name" or "fl.plot.name" for such an attribute, otherwise None."""
    match node:
        case ast.Attribute(value=ast.Name(id="fl"), attr=name):
            return f"fl.{name}"
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id="fl"), attr="plot"), attr=name):
            return f"fl.plot.{name}"
    return None


def is_public(name):
    """Whether a dotted name starts with one that is public."""
    _, first, *rest = name.split(".")
    if first == "plot" and rest:
        return rest[0] in fl.plot.__all__
    return first in fl.__all__ or first in ("__version__", "data")


def unknown_keywords(name, call):
    """Return the keywords of a call that the public name does not take."""
    public: Any = fl
    for part in name.split(".")[1:]:
        public = getattr(public, part)
    known = inspect.signature(public).parameters
    if any(one.kind is one.VAR_KEYWORD for one in known.values()):
        return set()
    return {keyword.arg for keyword in call.keywords if keyword.arg} - set(known)


@every_page
def test_names_in_sentences(page):
    for span in SPAN.findall(hidden_code(page.read_text())):
        for name in re.findall(r"\bfl\.(?:plot\.)?\w+", span):
            assert is_public(name) or is_former(page, name), f"{page.name}: `{span}` has no public name"


def commands(code):
    """Yield the arguments of the lines of a block that call the command, without comments and redirections."""
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words[:1] == ["flowlimit"]:
            ends = [at for at, word in enumerate(words) if word in (">", "|", "&&", ";")]
            yield words[1 : min(ends, default=None)]


@every_page
def test_commands_in_blocks(page):
    """They are read by the command's parser, as it would before it runs them."""
    for block in blocks(page.read_text()):
        for words in commands(inside(block)) if block.language in SHELL else ():
            context = COMMAND.make_context("flowlimit", list(words))
            with context:
                name, verb, rest = COMMAND.resolve_command(context, list(words))
                verb.make_context(name, list(rest), parent=context).close()


@every_page
def test_commands_in_sentences(page):
    """Parts of commands: the verb and the flags that are there exist."""
    for span in SPAN.findall(hidden_code(page.read_text())):
        _, *words = span.split() if span.startswith("flowlimit ") else [""]
        if not words or is_former(page, f"flowlimit {words[0]}"):
            continue
        verb = COMMAND if words[0].startswith("-") else COMMAND.commands.get(words[0])
        assert verb, f"{page.name}: `{span}`: no such command"
        known = {flag for option in verb.params for flag in (*option.opts, *option.secondary_opts)} | {"--help"}
        unknown = [word for word in words if word.startswith("--") and word.partition("=")[0] not in known]
        assert not unknown, f"{page.name}: `{span}`: no such flag"


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (test_links, "[x](gone.md)"),
        (test_links, "[x](#gone)"),
        (test_external_links, "[x](http://example.org)"),
        (test_external_links, "[x](https://example)"),
        (test_external_links, "[x](https://arxiv.org/abs/251.01930)"),
        (test_references, "{doc}`gone`"),
        (test_references, "```{toctree}\n:hidden:\n\ngone\n```"),
        (test_references, "```{image} gone.png\n```"),
        (test_files_that_are_named, "`python benchmarks/gone.py`"),
        (test_python, "```python\nx = (\n```"),
        (test_python, "```{code-cell}\nfl.gone()\n```"),
        (test_python, "    fl.plot.gone(1)"),
        (test_python, "```python\nfl.simulate(gone=1)\n```"),
        (test_names_in_sentences, "See `fl.gone(1)`."),
        (test_commands_in_blocks, "    flowlimit gone"),
        (test_commands_in_blocks, "```console\n$ flowlimit simulate --gone 1  # a flag\n```"),
        (test_commands_in_blocks, "    flowlimit simulate --dim many"),
        (test_commands_in_sentences, "See `flowlimit gone`."),
        (test_commands_in_sentences, "See `flowlimit check --gone`."),
    ],
)
def test_checks_find_what_is_broken(check, text, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises((AssertionError, REFUSED)):
        check(page)


def settings():
    """Return the settings of docs/conf.py that decide what a broken reference is."""
    tree = ast.parse((ROOT / "docs/conf.py").read_text())
    given = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    return {name: ast.literal_eval(given[name]) for name in given if name.startswith(("myst_", "suppress", "nitpick"))}


BROKEN = ("[](gone.md)", "[x](other.md#gone)", "[x](#gone)", "{doc}`gone`", "{ref}`gone`", "{download}`gone.txt`")
SOUND = "# Page\n\n[a page](other.md), [a heading](other.md#other-page), [here](#page)."


def test_the_build_of_the_docs_refuses_broken_references(tmp_path):
    """With the settings of the docs each of these is a warning, and warnings fail; a page without them builds."""
    pytest.importorskip("sphinx")
    (tmp_path / "conf.py").write_text("".join(f"{name} = {value!r}\n" for name, value in settings().items()))
    (tmp_path / "other.md").write_text("---\norphan: true\n---\n\n# Other page\n")
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "dummy", "-D", "extensions=myst_parser"]
    for text, warnings in ((SOUND, 0), ("\n\n".join((SOUND, *BROKEN)), len(BROKEN))):
        (tmp_path / "index.md").write_text(text)
        done = subprocess.run([*build, ".", "out"], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert len(re.findall("WARNING: ", done.stderr)) == warnings, done.stderr
        assert (done.returncode == 0) == (warnings == 0)
