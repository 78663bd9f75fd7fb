"""What `--help` shows: commands by what a person wants, flags by what they are for."""

import re

import pytest
from in_process import flowlimit

from flowlimit.cli.app import COMMANDS, app

WISHES = {
    "Try it": ["init", "explore", "doctor"],
    "Compute": ["solve-dmft", "simulate", "check", "estimate", "select"],
    "Closed forms": ["fixed-point", "convergence-rate", "timescales"],
    "Many problems": ["sweep", "table", "template", "warm"],
    "The paper": ["paper"],
}
TRAINED = ["Arguments", "Problem", "Training", "Accuracy and size", "Output", "Options"]


def sections(*words):
    """Return heading -> lines under it, as printed."""
    found = re.findall(r"^(\w[\w ]*):\n((?:  .*\n?)+)", flowlimit(*words, "--help").stdout, re.MULTILINE)
    return {heading: lines.splitlines() for heading, lines in found}


@pytest.mark.parametrize("width", [80, 120])
def test_commands_are_listed_by_what_a_person_wants(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = sections()
    assert list(shown) == [*WISHES, "Options"]
    for wish, names in WISHES.items():
        assert [line.split()[0] for line in shown[wish]] == names


def test_every_command_has_a_wish_and_one_whole_line(monkeypatch):
    """At 80 columns no line is cut or wrapped."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = sections()
    lines = [line for commands in COMMANDS.values() for line in commands.values()]
    assert len(lines) == len(app.registered_commands) == sum(map(len, WISHES.values()))
    for wish, commands in COMMANDS.items():
        assert [line.split(maxsplit=1)[1] for line in shown[wish]] == list(commands.values())


@pytest.mark.parametrize(
    ("verb", "headings"),
    [
        ("solve-dmft", TRAINED),
        ("simulate", TRAINED),
        ("check", TRAINED),
        ("estimate", TRAINED),
        ("fixed-point", ["Arguments", "Problem", "Output", "Options"]),
        ("sweep", ["Arguments", "Sweep", "Problem", "Training", "Accuracy and size", "Work", "Options"]),
    ],
)
def test_flags_are_listed_by_what_they_are_for(verb, headings):
    shown = sections(verb)
    assert list(shown) == headings
    assert [line.split()[0] for line in shown["Options"]] == ["--help"]
    assert shown["Problem"][0].split()[0] == "--init-scale"
