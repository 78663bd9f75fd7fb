"""Problems in files: what they say is taken over, and what is wrong is refused with its line."""

import sys

import numpy as np
import pytest

import flowlimit as fl
from flowlimit.cli.grammar import read_problem
from flowlimit.cli.init import init


def test_the_file_that_init_writes_says_the_defaults(tmp_path):
    init(tmp_path / "problem.toml")
    problem = read_problem("solve-dmft", tmp_path / "problem.toml")
    plain = read_problem()
    assert [noun.to_dict() for noun in problem[:3]] == [noun.to_dict() for noun in plain[:3]]
    assert problem.options("solve_dmft") == plain.options("solve_dmft")
    assert problem.options("check") == plain.options("check")
    simulated = read_problem("simulate", flags={"dim": 7}).options("simulate")
    assert simulated == {"dim": 7, "trials": 10, "draws": "balanced"}


def test_init_takes_the_spectrum_of_a_table(tmp_path):
    """As `Spectrum.from_data` finds it, to the eight digits that are written."""
    rng, file = np.random.default_rng(0), tmp_path / "problem.toml"
    X = rng.normal(size=(60, 5)) * np.array([3.0, 2.0, 1.0, 0.5, 0.2])
    y = X[:, 0] + rng.normal(size=60)
    np.savez(tmp_path / "data.npz", X=X, price=y)
    init(file, data=tmp_path / "data.npz", target="price", samples=20)
    task, law = read_problem("solve-dmft", file).task, fl.Spectrum.from_data(X, y)
    assert float(task.aspect_ratio) == 4.0
    assert float(task.noise_var) == pytest.approx(1.0 - float(law.signal), rel=1e-5)
    assert np.asarray(task.features.variances()) == pytest.approx(np.asarray(law.variances()), rel=1e-7)
    assert np.asarray(task.features.targets) == pytest.approx(np.asarray(law.targets), rel=1e-7)
    with pytest.raises(ValueError, match="--samples: given without a table"):
        init(tmp_path / "other.toml", samples=3)
    with pytest.raises(ValueError, match="--target: given without a table"):
        init(tmp_path / "other.toml", target="y")


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
    problem = read_problem("solve-dmft", write(text))
    assert problem.model.to_dict() == fl.Linear().to_dict()
    assert (
        problem.task.to_dict()
        == fl.Regression(2.0, noise_var=0.1, target=fl.Normal(), design=fl.StudentDesign(5.0)).to_dict()
    )
    assert problem.training.to_dict() == fl.StochasticGradientDescent(0.5, step_size=0.1, num_steps=4).to_dict()
    assert problem.key == 3


def test_flags_come_first(write):
    path = write("[model]\nkind = 'DiagonalLinear'\ninit_scale = 2.0\nweight_decay = 0.1\n")
    flags = {"init_scale": 0.5, "horizon": 3.0, "key": 2, "depth": None}
    problem = read_problem("solve-dmft", path, flags, ["task.target.probability=0.25"])
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
    with pytest.raises(ValueError, match=r"line 1: imports: given 'mine_of_a_test', code .*--allow-imports"):
        read_problem("solve-dmft", write(text))
    assert "mine_of_a_test" not in sys.modules
    monkeypatch.setenv("FLOWLIMIT_ALLOW_IMPORTS", "1")
    assert type(read_problem("solve-dmft", write(text)).model).__name__ == "Mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[model]\nkind = 'Linear'\n\n[models]\n", "line 4: models: unknown; a file has imports, model, task"),
        (
            "[solve_dmft]\nrtol = 0.1\ntime = 3\n",
            r"line 3: solve_dmft.time: unknown; \[solve_dmft\] has rtol, time_limit",
        ),
        ("[solve_dmft]\nrtol = -1\n", "line 2: solve_dmft.rtol: given -1; input should be greater than 0"),
        ("[model]\nkind = 'DiagonalLinear'\ninit_scale = -1\n", "line 3: init_scale: given -1, needs a number above 0"),
        ("[model]\nkind = 'DiagonalLiner'\n", "line 2: kind: given 'DiagonalLiner'.*did you mean 'DiagonalLinear'"),
        ("[training]\nkind = 'GradientFlow'\n", "line 1: GradientFlow: given no horizon"),
        (
            "[task]\nkind = 'Regression'\naspect_ratio = 0.5\nnoise_var = 0.0\n[task.target]\nkind = 'Bernoulli'\n"
            "probability = 2\n",
            "line 7: probability: given 2",
        ),
        ("[model\n", "problem.toml: .*line 1.*needs TOML"),
        ("[model]\nkind = 'Linear'\n'(' = 1\n", r"line 3: Linear: given unknown \(;"),
        ("[model]\nkind = 'Linear'\n\"(a+)+z\" = 1\nb = '" + 60 * "a" + "'\n", r"line 3: Linear: given unknown \(a"),
        ("[model]\nkind = 3\n", "line 2: kind: given 3, needs a name"),
        ("[model]\nkind = ['Linear']\n", "line 2: kind: given .*, needs a name"),
        ("[model]\nkind = 'GradientFlow'\nhorizon = 1\n", "line 2: model: given GradientFlow.*, needs a model"),
        ("a = " + 5000 * "[" + 5000 * "]", "tables or lists too deep"),
        ("[model]\n" + ".".join(3000 * "a") + " = 1\n", "tables or lists too deep"),
        (
            "[model]\nkind = 'DiagonalLinear'\ninit_scale = 1" + 400 * "0",
            "line 3: model.init_scale: given an integer of",
        ),
        ("[model]\nkind = 'DiagonalLinear'\ninit_scale = 1" + 9000 * "0", "9001 digits; needs TOML"),
        (
            "[solve_dmft]\ntime_limit = nan\n",
            "line 2: solve_dmft.time_limit: given nan; input should be a finite number",
        ),
        ("[check]\ndims = [1]\n", "line 2: check.dims.0: given 1"),
        ("key = -1\n", "line 1: key: given -1"),
        ("imports = ['nowhere_at_all']\n", "line 1: imports: given 'nowhere_at_all', which cannot be imported: Module"),
    ],
)
def test_what_is_wrong_has_its_line(write, text, message, monkeypatch):
    monkeypatch.setenv("FLOWLIMIT_ALLOW_IMPORTS", "1")
    with pytest.raises(ValueError, match=message):
        read_problem("solve-dmft", write(text))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="write one with: flowlimit init"):
        read_problem("solve-dmft", tmp_path / "none.toml")


def test_flags_are_checked_like_a_file():
    with pytest.raises(ValueError, match="--dims: given 1; input should be greater than or equal to 2"):
        read_problem("check").options("check", dims=[1, 50], trials=None)
    options = {"dims": (50,), "trials": 20, "draws": "balanced"}
    assert read_problem("check").options("check", dims=[50], trials=None) == options
    with pytest.raises(ValueError, match="--key: given -1"):
        read_problem("solve-dmft", flags={"key": -1})


def test_files_that_are_no_text(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; give a file in it"):
        read_problem("solve-dmft", tmp_path)
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"a\.toml: byte 0 is no UTF-8"):
        read_problem("solve-dmft", tmp_path / "a.toml")
    (tmp_path / "b.toml").write_bytes(b"\xef\xbb\xbfkey = 3\n")  # as editors on Windows save it
    assert read_problem("solve-dmft", tmp_path / "b.toml").key == 3
