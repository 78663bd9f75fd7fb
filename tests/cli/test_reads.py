"""A verb reads every flag, address and training that it is given, or refuses it."""

from pathlib import Path

import pytest
from in_process import flowlimit, refused

import flowlimit as fl
from flowlimit.cli.grammar import read_problem
from flowlimit.cli.reads import FLAGS, READS, as_typed, offered

AT_THE_END = ("convergence-rate", "fixed-point", "timescales")
DESCENT = "[training]\nkind = 'GradientDescent'\nstep_size = 0.1\nnum_steps = 5\nmomentum = 0.5\n"
PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
AXIS = ("--over", "model.init_scale=0.1,1")


@pytest.mark.parametrize("verb", READS)
def test_help_lists_the_flags_that_a_verb_reads(verb):
    shown = flowlimit(verb, "--help").stdout
    own = {"--trials", "--draws"} if verb == "check" else set()
    for name, flag in FLAGS.items():
        listed = f"{as_typed(name)} " in shown
        assert listed == (flag.part in READS[verb] or as_typed(name) in own), (name, shown)


@pytest.mark.parametrize("verb", AT_THE_END)
def test_the_end_of_the_flow_knows_no_training(verb, write):
    assert "No such option: --step-size" in refused(verb, "--step-size", ".1", "--num-steps", "10", "--momentum", ".9")
    assert f"{verb} does not read the training" in refused(verb, "--set", "training.horizon=3")
    line = refused(verb, write(DESCENT))
    assert f"line 1: training: given GradientDescent(step_size=0.1, num_steps=5, momentum=0.5), but {verb}" in line
    assert "Leave [training] out of the file" in line


def test_the_end_of_the_flow_takes_a_file_with_a_flow(write):
    text = "key = 3\n[training]\nkind = 'GradientFlow'\nhorizon = 3.0\n[solve_dmft]\nrtol = 0.1\n[simulate]\ndim = 5\n"
    assert read_problem("convergence-rate", write(text)).training.to_dict() == {"kind": "GradientFlow", "horizon": 3.0}


@pytest.mark.parametrize(
    ("verb", "words", "message"),
    [
        ("convergence-rate", (*AXIS, "--rtol", ".1"), "--rtol: given, but convergence-rate does not read [solve_dmft]"),
        ("convergence-rate", (*AXIS, "--dim", "9"), "--dim: given, but convergence-rate does not read [simulate]"),
        ("timescales", (*AXIS, "--trials", "9"), "--trials: given, but timescales does not read [simulate]"),
        ("fixed-point", (*AXIS, "--key", "1"), "--key: given, but fixed-point does not read the key"),
        (
            "convergence-rate",
            (*AXIS, "--momentum", "0"),
            "--momentum: given, but convergence-rate does not read the training",
        ),
        ("solve-dmft", (*AXIS, "--dim", "9"), "--dim: given, but solve-dmft does not read [simulate]"),
        ("simulate", (*AXIS, "--time-limit", "9"), "--time-limit: given, but simulate does not read [solve_dmft]"),
        (
            "convergence-rate",
            ("--over", "training.horizon=1,2"),
            "--over training.horizon: given, but convergence-rate does not read",
        ),
        ("convergence-rate", ("--over", "key=1,2"), "--over key: given, but convergence-rate does not read the key"),
        ("solve-dmft", ("--over", "dim=10,20"), "--over dim: given, but solve-dmft does not read [simulate]"),
        ("convergence-rate", (*AXIS, "--init-scale", "2"), "--over model.init_scale: given beside --init-scale"),
        ("solve-dmft", ("--over", "key=1,2", "--key", "2"), "--over key: given beside --key, which it overrides"),
        ("convergence-rate", ("--over", "model=1,2"), "--over model: given a whole noun"),
    ],
)
def test_a_sweep_reads_what_its_verb_reads(verb, words, message, tmp_path):
    assert message in refused("sweep", verb, *words, "--store", tmp_path / "a.zarr")
    assert not (tmp_path / "a.zarr").exists()


def test_a_sweep_refuses_the_training_of_a_file(write, tmp_path):
    assert "convergence-rate does not read it" in refused(
        "sweep", "convergence-rate", write(DESCENT), *AXIS, "--store", tmp_path / "a.zarr"
    )


def test_a_sweep_takes_the_settings_of_a_file(write, tmp_path, monkeypatch):
    taken = {}
    monkeypatch.setattr(fl, "sweep", lambda *nouns, **options: taken.update(options, training=nouns[3]))
    file = write(f"key = 4\n{DESCENT}[solve_dmft]\nrtol = 0.3\ntime_limit = 7.0\n")
    done = flowlimit("sweep", "solve-dmft", file, *AXIS, "--store", tmp_path / "a.zarr", "--rtol", "0.2")
    assert done.returncode == 0, done.stderr
    assert (taken["rtol"], taken["time_limit"], taken["key"]) == (0.2, 7.0, 4)
    assert taken["training"].to_dict()["momentum"] == 0.5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--init-scale", "1", "--set", "model.init_scale=2"), "--set model.init_scale: given beside --init-scale"),
        (("--probability", ".2", "--set", "task.target.probability=.3"), "given beside --probability"),
        (("--set", "model.depth=2", "--set", "model.depth=3"), "--set model.depth: given beside --set model.depth"),
        (("--set", "model=2"), "needs an address of the model, task or training and one number"),
        (("--set", "model.with=2"), "--set: given 'model.with', but DiagonalLinear has no 'with'"),
    ],
)
def test_one_number_is_given_once(words, message):
    assert message in refused("convergence-rate", *words)


def test_flags_of_another_model(write, tmp_path):
    assert "Linear: given unknown depth" in refused("solve-dmft", write("[model]\nkind = 'Linear'\n"), "--depth", "3")
    linear = ("sweep", "convergence-rate", write("[model]\nkind = 'Linear'\n"), "--over", "task.aspect_ratio=0.5,2")
    assert "model: given Linear(), needs fl.DiagonalLinear" in refused(*linear, "--store", tmp_path / "a.zarr")


@pytest.mark.parametrize(
    ("flags", "training"),
    [
        ({"num_steps": 9}, fl.GradientDescent(0.1, num_steps=9, momentum=0.5)),
        ({"batch_fraction": 0.5}, fl.StochasticGradientDescent(0.5, step_size=0.1, num_steps=5, momentum=0.5)),
        ({"horizon": 3.0}, fl.GradientFlow(3.0)),
    ],
    ids=repr,
)
def test_flags_change_the_training_of_a_file(flags, training, write, capsys):
    """What flags do not name stays as the file says; a training of another kind is said."""
    assert read_problem("solve-dmft", write(DESCENT), flags).training.to_dict() == training.to_dict()
    assert ("in place of GradientDescent" in capsys.readouterr().err) == (not isinstance(training, fl.GradientDescent))


def test_no_noise_beside_momentum(write):
    assert "--temperature: given beside momentum" in refused("solve-dmft", write(DESCENT), "--temperature", "0.1")


def test_every_verb_offers_what_it_reads():
    assert set(offered("sweep")) == set(FLAGS)


def test_the_page_says_what_verbs_read():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `") and "| model, " in line]
    said = {
        verb.strip(" `"): set(row.split("|")[2].replace(",", " ").split()) for row in rows for verb in verbs_of(row)
    }
    shown = lambda part: f"`[{part}]`" if part in ("solve_dmft", "simulate", "check") else part
    assert said == {verb: set(map(shown, reads)) for verb, reads in READS.items()}


def verbs_of(row):
    return row.split("|")[1].split(",")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["simulate", "--lr", "0.1"], "--step-size"),
        (["simulate", "--alpha", "0.1"], "--init-scale"),
        (["simulate", "--init-scal", "0.1"], "--init-scale"),
        (["simulate", "--seed", "1"], "--key"),
        (["simulate", "--epochs", "1"], "--num-steps"),
    ],
)
def test_flags_in_other_words(words, meant):
    assert refused(*words) == f"Error: No such option: {words[1]}; did you mean {meant}?"


def test_fields_of_files_in_other_words(write):
    assert "did you mean init_scale?" in refused("simulate", write('[model]\nkind = "DiagonalLinear"\nalpha = 0.3\n'))
    assert "did you mean rtol?" in refused("simulate", write("[solve_dmft]\ntol = 0.1\n"))
    assert "did you mean init_scale?" in refused("simulate", "--set", "model.alpha=0.1")
