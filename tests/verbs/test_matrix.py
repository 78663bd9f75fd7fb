"""The table of what works with what: asked of the verbs, so that it says what they do."""

import pytest
from typer.testing import CliRunner

import flowlimit as fl
from flowlimit.cli.app import app
from flowlimit.verbs.matrix import CLOSED, IN_TIME, matrix

LIMIT, RUNS, ESTIMATE = IN_TIME
FLOW_ONLY, DATA = CLOSED


@pytest.fixture(scope="module")
def rows():
    return {(row.model, row.task): row.verbs for row in matrix()}


def test_answers_that_are_known(rows):
    network = "DiagonalLinear, depth 2"
    assert set(rows[network, "Regression"].values()) == {"yes", "no"}
    assert rows[network, "Regression"][LIMIT] == rows[network, "Regression"][FLOW_ONLY] == "yes"
    assert rows[network, "Classification"][LIMIT] == "descent, momentum, batches, Langevin"
    assert rows[network, "Regression, MatrixDesign"][LIMIT] == "no"
    assert rows[network, "Dataset"][DATA] == "yes"
    assert rows["Linear", "Regression"][FLOW_ONLY] == "no"
    assert rows[network, "Dataset"][ESTIMATE] == "flow, descent, momentum"
    assert {answers[ESTIMATE] for (_, task), answers in rows.items() if task != "Dataset"} == {"no"}


def test_everything_can_be_run(rows):
    assert {answers[RUNS] for answers in rows.values()} == {"yes"}


def test_a_refusal_is_that_of_the_verb():
    """One entry that is "no" and one that is "yes", by the verb itself."""
    task = fl.Regression(0.5, noise_var=0.1, target=fl.Normal())
    with pytest.raises(TypeError, match=r"needs fl\.DiagonalLinear of depth 2"):
        fl.timescales(fl.Linear(), task)
    assert fl.timescales(fl.DiagonalLinear(0.3), task).lazy > 0.0


def test_the_command_prints_it():
    printed = CliRunner().invoke(app, ["doctor", "--matrix"], env={"COLUMNS": "200"})
    assert printed.exit_code == 0
    assert "Classification" in printed.output
