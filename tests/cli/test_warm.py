"""`flowlimit warm` fills the folder that later calls read."""

import pytest
from typer.testing import CliRunner

from flowlimit import program_cache
from flowlimit.cli.app import app
from flowlimit.cli.warm import KINDS


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.delenv(program_cache.GIVEN, raising=False)
    monkeypatch.setenv(program_cache.SWITCH, str(tmp_path))


def test_kinds_are_listed_and_wrong_ones_refused():
    listed = CliRunner().invoke(app, ["warm", "--list"])
    assert listed.output.split() == list(KINDS)
    refused = CliRunner().invoke(app, ["warm", "flows"])
    assert "kinds: given flows, needs some of closed-forms, flow" in str(refused.exception)


def test_it_says_where_nothing_is_kept(monkeypatch):
    monkeypatch.setenv(program_cache.SWITCH, "off")
    assert "programs are not kept; unset it" in str(CliRunner().invoke(app, ["warm"]).exception)
