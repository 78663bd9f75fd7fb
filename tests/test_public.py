"""The public face: lazy names, the stub that repeats them, and docstrings."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import flowlimit as fl

PACKAGE = Path(fl.__file__).parent


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


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = fl.nothing
