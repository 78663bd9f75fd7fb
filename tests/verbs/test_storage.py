"""Save and load: everything comes back, and what cannot be read says so."""

import dataclasses
import json
import shutil
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import flowlimit as fl
from flowlimit.numerics import disk


@pytest.mark.slow
@pytest.mark.parametrize("training", [fl.GradientDescent(0.1, num_steps=20), fl.GradientFlow(2.0)], ids=repr)
def test_round_trip(tmp_path, task, training):
    runs = fl.simulate(
        fl.DiagonalLinear(0.3),
        task,
        training,
        dim=40,
        trials=3,
        weights_at=[2.0],
        observables={"overlap": lambda w, w_star: w * w_star},
    )
    fl.save(runs, tmp_path / "runs.zarr")
    back = fl.load(tmp_path / "runs.zarr")
    assert list(back.values) == list(runs.values)
    for name in runs.values:
        assert (back.values[name] == runs.values[name]).all()
    assert back.time_error.keys() == runs.time_error.keys()
    for name in runs.time_error:
        assert (back.time_error[name] == runs.time_error[name]).all()
    for name in ("times", "weights", "weights_times", "w_star"):
        assert (getattr(back, name) == getattr(runs, name)).all()
    assert (back.result, back.discrete) == (runs.result, runs.discrete)
    assert back.provenance == runs.provenance
    assert back.stats == runs.stats
    assert repr(back) == repr(runs)
    assert back == runs
    assert [getattr(back, noun) for noun in NOUNS] == [getattr(runs, noun) for noun in NOUNS]


NOUNS = ("model", "task", "training")
STEPS = fl.GradientDescent(0.25, num_steps=8)


def bits(result):
    """Every number of a result, bit for bit."""
    arrays = {f"{group.path}/{name}": group[name] for group in result.to_datatree().subtree for name in group.variables}
    return {name: (str(array.dtype), array.dims, array.to_numpy().tobytes()) for name, array in arrays.items()}


@pytest.mark.slow
def test_limit_comes_back_bit_for_bit(tmp_path, task):
    limit = fl.solve_dmft(fl.Linear(), task, STEPS, rtol=0.5, observables={"overlap": lambda w, w_star: w * w_star})
    fl.save(limit, tmp_path / "limit.zarr")
    back = fl.load(tmp_path / "limit.zarr")
    assert back == limit
    assert bits(back) == bits(limit)
    assert len(bits(limit)) > 60
    assert (back.stats, back.provenance, repr(back)) == (limit.stats, limit.provenance, repr(limit))
    assert [getattr(back, noun) for noun in NOUNS] == [fl.Linear(), task, STEPS]


def test_panels_and_several_outputs_come_back(tmp_path):
    """Arrays of every number of axes, made by hand: solving for them takes longer."""
    nodes, edges, rng = np.linspace(0.1, 1.9, 4), np.array([0.0, 1.0, 2.0]), np.random.default_rng(0)
    pairs = lambda: rng.normal(size=(4, 4, 2, 2))
    names = ("C_w", "C_f", "R_w", "R_f")
    kernels = fl.Kernels(nodes, *(pairs() for _ in names), stderr={name: pairs() for name in names})
    operators = fl.Operators(nodes, rng.normal(size=4), rng.normal(size=(4, 4)), pairs(), pairs())
    paths = [rng.normal(size=(4, 2, 5)) for _ in range(3)]
    sample = fl.PathSample(nodes, *paths, rng.normal(size=(2, 5)), np.full(5, 0.2), edges)
    values = {"test_error": np.array([[1.0, np.nan, np.inf], [-0.0, 1e-320, 2.0]])}
    parts = {"test_error": np.array([0.0, np.nan, 1.0])}
    stats = fl.SolveStats(1.0, 0.1, nodes=4, level=-1, edges=tuple(edges.tolist()))
    inner = {"kernels": kernels, "operators": operators, "paths": sample}
    limit = fl.Limit(np.array([0.0, 1.0, 2.0]), values, False, parts, parts, parts, stats=stats, **inner)
    fl.save(limit, tmp_path / "limit.zarr")
    back = fl.load(tmp_path / "limit.zarr")
    assert back == limit
    assert bits(back) == bits(limit)
    assert back.stats == stats
    assert back.model is None


def test_an_answer_without_curves_comes_back(tmp_path):
    none = {"train_error": np.zeros(0)}
    outcome = fl.Outcome(fl.Code.NO_ANSWER, "no replica in 1 s")
    limit = fl.Limit(np.zeros(0), {"train_error": np.zeros((0, 0))}, True, none, none, none, outcome)
    fl.save(limit, tmp_path / "none.zarr")
    assert fl.load(tmp_path / "none.zarr") == limit


def test_functions_and_data_are_given_back_by_hand(tmp_path, dataset):
    """They are not kept in the file: the noun is None, and says so when it is needed."""
    runs = fl.simulate(fl.Linear(), dataset, STEPS, save_at=[2.0])
    path = tmp_path / "runs.zarr"
    fl.save(runs, path)
    back = fl.load(path)
    assert back == runs
    assert (back.model, back.task, back.training) == (fl.Linear(), None, STEPS)
    with pytest.raises(ValueError, match=r"task: this Runs does not hold it.*fl\.load\(path, task=task\)"):
        back.noun("task")
    assert fl.load(path, task=dataset).task is dataset
    other = fl.Dataset(dataset.X, 2.0 * dataset.y)
    with pytest.raises(ValueError, match=r"task: given .*, but the file is of .*leave task= out"):
        fl.load(path, task=other)


def test_the_file_is_the_tree(tmp_path, task):
    """Other programs read it with xarray alone; what was there before is gone."""
    runs = fl.simulate(fl.Linear(), task, STEPS, dim=20, trials=2, weights_at=[2.0])
    fl.save(runs, tmp_path / "runs.zarr")
    with xr.open_datatree(tmp_path / "runs.zarr", engine="zarr", consolidated=False) as tree:
        xr.testing.assert_equal(tree.load().drop_nodes("seal"), runs.to_datatree())
        assert tree["curves/loss_stderr"].attrs["units"] == "1"
    fl.save(
        dataclasses.replace(runs, weights=None, weights_times=None, w_star=None), tmp_path / "runs.zarr", overwrite=True
    )
    assert fl.load(tmp_path / "runs.zarr").weights is None


def test_outcome_survives(tmp_path, task):
    runs = fl.simulate(
        fl.DiagonalLinear(3.0), task, fl.GradientDescent(0.1, num_steps=50), dim=40, trials=2, throw=False
    )
    fl.save(runs, tmp_path / "wild.zarr")
    back = fl.load(tmp_path / "wild.zarr")
    assert back.result == runs.result
    assert np.isnan(back.train_error[-1]) or np.isinf(back.train_error[-1])


def test_refusals(tmp_path, task):
    runs = fl.simulate(fl.Linear(), task, fl.GradientDescent(0.1, num_steps=2), dim=20, trials=2)
    path = tmp_path / "runs.zarr"
    fl.save(runs, path)
    with pytest.raises(FileExistsError, match="overwrite=True to replace it"):
        fl.save(runs, path)
    fl.save(runs, path, overwrite=True)
    (tmp_path / "notes.zarr").mkdir()
    with pytest.raises(FileExistsError, match=r"is no result of fl\.save: it is not overwritten"):
        fl.save(runs, tmp_path / "notes.zarr", overwrite=True)
    with pytest.raises(ValueError, match="is no zarr store; give the path"):
        fl.load(tmp_path / "notes.zarr")
    with pytest.raises(FileNotFoundError, match=r"give the path of a store that fl\.save wrote"):
        fl.load(tmp_path / "nothing.zarr")
    runs.to_xarray().to_zarr(tmp_path / "plain.zarr", consolidated=False)
    with pytest.raises(ValueError, match="no format version"):
        fl.load(tmp_path / "plain.zarr")
    runs.to_xarray().assign_attrs(format=99).to_zarr(tmp_path / "new.zarr", consolidated=False)
    with pytest.raises(ValueError, match="has format 99, this version reads up to 1; upgrade flowlimit"):
        fl.load(tmp_path / "new.zarr")
    runs.to_xarray().assign_attrs(format=1).to_zarr(tmp_path / "flat.zarr", consolidated=False)
    with pytest.raises(ValueError, match="was written before format 1 was settled; compute the result anew"):
        fl.load(tmp_path / "flat.zarr")


@pytest.mark.parametrize("name", ["limit.npz", "limit.parquet", "limit", "limit.zip"])
def test_other_endings_are_refused(tmp_path, saved, name):
    """Before, a folder in zarr's format had the name of a table."""
    with pytest.raises(
        ValueError, match=r"needs a name that ends in \.zarr, \.nc, \.csv, \.json, e\.g\. .*limit\.zarr"
    ):
        fl.save(saved[0], tmp_path / name)
    with pytest.raises(FileNotFoundError, match=r"no folder .*; make it first"):
        fl.save(saved[0], tmp_path / "none" / "limit.zarr")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", [".nc", ".csv", ".json"])
def test_files_for_other_programs(tmp_path, saved, ending):
    """The ending decides the format; a file is replaced whole, and only if that is asked for."""
    runs, path = saved[0], tmp_path / f"a{ending}"
    fl.save(runs, path)
    readers = {
        ".nc": lambda: xr.open_dataset(path, engine="scipy")["test_error"].to_numpy(),
        ".csv": lambda: np.genfromtxt(path, delimiter=",", names=True)["test_error"],
        ".json": lambda: np.array(json.loads(path.read_text())["test_error"]),
    }
    assert (readers[ending]() == runs.test_error).all()
    with pytest.raises(FileExistsError, match="overwrite=True"):
        fl.save(runs, path)
    fl.save(runs, path, overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    with pytest.raises(ValueError, match=r"ends in \.nc, \.csv, \.json"):
        fl.save(fl.timescales(fl.DiagonalLinear(0.3), runs.task), tmp_path / "a.zarr")
    path.unlink()
    path.mkdir()
    with pytest.raises(FileExistsError, match="not overwritten"):
        fl.save(runs, path, overwrite=True)


def test_citation():
    assert "Nishiyama" in fl.citation()
    assert fl.__version__ in fl.citation()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A result with its store."""
    task = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    runs = fl.simulate(fl.Linear(), task, STEPS, dim=20, trials=2, weights_at=[2.0])
    path = tmp_path_factory.mktemp("saved") / "runs.zarr"
    fl.save(runs, path)
    return runs, path


def flip(rng, data):
    place = rng.integers(len(data))
    return data[:place] + bytes([data[place] ^ (1 << rng.integers(8))]) + data[place + 1 :]


def cut(rng, data):
    return data[: rng.integers(len(data))]


@pytest.mark.parametrize("damage", [flip, cut, None])
def test_damage_is_noticed(saved, tmp_path, damage):
    """Every file is flipped in one bit, cut off or removed: the store is refused, never read as other numbers."""
    runs, path = saved
    rng = np.random.default_rng(0)
    for file in sorted(file.relative_to(path) for file in path.rglob("*") if file.is_file()):
        shutil.copytree(path, tmp_path / "a.zarr")
        own = tmp_path / "a.zarr" / file
        own.unlink() if damage is None else own.write_bytes(damage(rng, own.read_bytes()))
        with pytest.raises(ValueError, match=r"damaged|no zarr store|no result of flowlimit|has no seal|format"):
            fl.load(tmp_path / "a.zarr")
        shutil.rmtree(tmp_path / "a.zarr")
    assert fl.load(path) == runs


def test_a_save_that_fails_leaves_what_was_there(saved, tmp_path, monkeypatch):
    runs, _ = saved
    path = tmp_path / "runs.zarr"
    fl.save(runs, path)

    def full(self, store, **_):
        (Path(store) / "curves").mkdir(parents=True)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(xr.DataTree, "to_zarr", full)
    with pytest.raises(OSError, match="No space left"):
        fl.save(runs, path, overwrite=True)
    with pytest.raises(OSError, match="No space left"):
        fl.save(runs, tmp_path / "other.zarr")
    assert [file.name for file in tmp_path.iterdir()] == ["runs.zarr"]
    assert fl.load(path) == runs


def test_a_sweep_is_not_overwritten(saved, tmp_path, task):
    runs, _ = saved
    path = tmp_path / "sweep.zarr"
    fl.sweep(fl.timescales, fl.DiagonalLinear(0.3), task, over={"model.init_scale": [0.1]}, store=path)
    with pytest.raises(FileExistsError, match=r"is no result of fl\.save"):
        fl.save(runs, path, overwrite=True)
    assert fl.open_sweep(path).missing == 0


def declared(node, **changes):
    """Change the description of an array, and seal the store as if it had been written so."""
    description = json.loads((node / "zarr.json").read_text())
    (node / "zarr.json").write_text(json.dumps(description | changes))
    store = next(folder for folder in node.parents if (folder / disk.SEAL).is_file())
    shutil.rmtree(store / "seal")
    disk.seal(store)


ZSTD = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 0}}]
HUGE = {"name": "regular", "configuration": {"chunk_shape": [10**6, 10**6]}}


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": [10**6, 10**6]},
        {"shape": [10**6, 10**6], "chunk_grid": HUGE},
        {"codecs": ZSTD},
        {"data_type": "string"},
    ],
    ids=["shape", "chunk", "codec", "type"],
)
def test_a_small_store_cannot_become_large_in_memory(saved, tmp_path, changes):
    """Before, a store of 49 kB made 3.1 GB. Its checksums are right: somebody wrote it so."""
    shutil.copytree(saved[1], tmp_path / "a.zarr")
    declared(tmp_path / "a.zarr" / "trials" / "test_error", **changes)
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"declares|of a kind that flowlimit does not write"):
        fl.load(tmp_path / "a.zarr")
    assert tracemalloc.get_traced_memory()[1] < 2**23  # files are read by pieces of 1 MiB
    tracemalloc.stop()


def test_arrays_that_nobody_expects_are_not_read(saved, tmp_path):
    path = tmp_path / "a.zarr"
    shutil.copytree(saved[1], path)
    shutil.copytree(path / "curves", path / "more")
    declared(path / "more" / "time")
    with pytest.raises(ValueError, match="no array of a result"):
        fl.load(path)
    (path / "zarr.json").write_text('{"zarr_format": 2, "node_type": "group"}')
    with pytest.raises(ValueError, match="zarr version 3"):
        fl.load(path)
