"""Problems in files: what they say is taken over, and what is wrong is refused with its line."""

import sys

import pytest

import flowlimit as fl
from flowlimit.cli.grammar import read_problem
from flowlimit.cli.problem_file import TEMPLATE


@pytest.fixture
def write(tmp_path):
    def give(text):
        path = tmp_path / "problem.toml"
        path.write_text(text)
        return path

    return give


def test_the_file_that_init_writes_says_the_defaults(write):
    problem = read_problem(write(TEMPLATE.format(command="flowlimit solve", name="problem.toml")))
    plain = read_problem()
    assert [noun.to_dict() for noun in problem[:3]] == [noun.to_dict() for noun in plain[:3]]
    assert problem.options("solve") == plain.options("solve")
    assert problem.options("check") == plain.options("check")
    assert problem.options("simulate", dim=7) == {"dim": 7, "trials": 10}


def test_every_noun_has_a_place(write):
    text = """
    key = 3
    [model]
    kind = "Linear"
    [task]
    kind = "Regression"
    aspect_ratio = 2
    noise_var = 0.1
    target = {kind = "Normal"}
    design = {kind = "StudentDesign", degrees = 5.0}
    [training]
    kind = "StochasticGradientDescent"
    batch_fraction = 0.5
    step_size = 0.1
    num_steps = 4
    """
    problem = read_problem(write(text))
    assert problem.model.to_dict() == fl.Linear().to_dict()
    assert problem.task.to_dict() == fl.Regression(2.0, 0.1, fl.Normal(), design=fl.StudentDesign(5.0)).to_dict()
    assert problem.training.to_dict() == fl.StochasticGradientDescent(0.5, 0.1, 4).to_dict()
    assert problem.key == 3


def test_flags_come_first(write):
    path = write("[model]\nkind = 'DiagonalLinear'\ninit_scale = 2.0\nweight_decay = 0.1\n")
    problem = read_problem(path, init_scale=0.5, horizon=3.0, key=2, other=["task.target.probability=0.25"])
    assert repr(problem.model) == "DiagonalLinear(init_scale=0.5, weight_decay=0.1)"
    assert float(problem.training.horizon) == 3.0
    assert float(problem.task.target.probability) == 0.25
    assert problem.key == 2


def test_a_model_of_ones_own(write, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mine_of_a_test.py").write_text(
        'import flowlimit as fl\n\nclass Mine(fl.DiagonalLinear):\n    """A network of my own."""\n'
    )
    text = "imports = ['mine_of_a_test']\n[model]\nkind = 'mine_of_a_test:Mine'\ninit_scale = 0.2\n"
    assert type(read_problem(write(text)).model).__name__ == "Mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[model]\nkind = 'Linear'\n\n[models]\n", "line 4: models: unknown; a file has imports, model, task"),
        ("[solve]\nrtol = 0.1\ntime = 3\n", r"line 3: solve.time: unknown; \[solve\] has rtol, time_limit"),
        ("[solve]\nrtol = -1\n", "line 2: solve.rtol: given -1; input should be greater than 0"),
        ("[model]\nkind = 'DiagonalLinear'\ninit_scale = -1\n", "line 3: init_scale: given -1, needs a number above 0"),
        ("[model]\nkind = 'DiagonalLiner'\n", "line 2: kind: given 'DiagonalLiner'.*did you mean 'DiagonalLinear'"),
        ("[training]\nkind = 'GradientFlow'\n", "line 1: GradientFlow: given no horizon"),
        (
            "[task]\nkind = 'Regression'\naspect_ratio = 0.5\nnoise_var = 0.0\n[task.target]\nkind = 'Bernoulli'\n"
            "probability = 2\n",
            "line 7: probability: given 2",
        ),
        ("[model\n", "problem.toml: .*line 1.*needs TOML"),
    ],
)
def test_what_is_wrong_has_its_line(write, text, message):
    with pytest.raises(ValueError, match=message):
        read_problem(write(text))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="write one with: flowlimit init"):
        read_problem(tmp_path / "none.toml")
