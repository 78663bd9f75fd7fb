"""The public face: lazy names, the stub that repeats them, and docstrings."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import flowlimit as fl
from flowlimit.problem.noun import Noun

PACKAGE = Path(fl.__file__).parent
ROOT = Path(__file__).parents[1]


def test_stub_and_lazy_table_agree():
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    homes = {
        alias.asname: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if node.module
    }
    assert homes == fl._HOME_OF


def test_import_is_lazy():
    code = "import sys, flowlimit; assert not {'jax', 'numpy', 'matplotlib'} & set(sys.modules), sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", [name for name in fl.__all__ if name not in ("__version__", "plot")])
def test_every_public_name_is_documented(name):
    public = getattr(fl, name)
    assert inspect.getdoc(public), name
    if not inspect.isclass(public):
        assert "Examples" in inspect.getdoc(public) or name == "load"


@pytest.mark.parametrize("name", [name for name in fl.__all__ if name not in ("__version__", "plot")])
def test_values_stand_without_names_only_where_it_is_plain_which(name):
    """Nouns: the first value (data: X and y, or variances and targets). Verbs: their nouns and records, and what a
    sentence would say.
    """
    public = getattr(fl, name)
    if inspect.isclass(public) and not issubclass(public, Noun):
        return  # results and records, which the package makes
    in_order = [p.name for p in inspect.signature(public).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    if inspect.isclass(public):
        assert len(in_order) < 2 or in_order in (["X", "y"], ["variances", "targets"])
    else:
        assert set(in_order[1:]) <= {
            "model",
            "task",
            "training",
            "dataset",
            "runs",
            "wrt",
            "name",
            "path",
            "times",
            "y",
        }


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: fl.DiagonalLinear(0.3, 0.1), "only init_scale can be given so, give the others as weight_decay="),
        (lambda: fl.Regression(0.5, 0.1), "give the others as .*noise_var="),
    ],
)
def test_values_without_names_are_told_theirs(wrong, message):
    with pytest.raises(TypeError, match=message):
        wrong()


def test_api_page_has_every_public_name():
    page = (ROOT / "docs/api/index.md").read_text()
    listed = {line.strip() for line in page.splitlines() if line.startswith("   ") and ":" not in line}
    plots = {f"plot.{name}" for name in fl.plot.__all__}
    assert listed == {name for name in fl.__all__ if name not in ("__version__", "plot")} | plots


def test_pages_and_examples_use_public_names_only():
    """What a reader copies stays valid: no page imports from a module inside the package."""
    readable = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.py")]
    inside = re.compile(r"(from|import) flowlimit\.(?!plot\b)")
    assert not [path for path in readable if inside.search(path.read_text())]


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = fl.nothing
