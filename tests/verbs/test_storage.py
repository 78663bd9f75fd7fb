"""Save and load: everything comes back, and what cannot be read says so."""

import numpy as np
import pytest

import flowlimit as fl


@pytest.mark.parametrize("training", [fl.GradientDescent(0.1, 20), fl.GradientFlow(2.0)], ids=repr)
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
    assert back.values.keys() == runs.values.keys()
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


def test_outcome_survives(tmp_path, task):
    runs = fl.simulate(fl.DiagonalLinear(3.0), task, fl.GradientDescent(0.1, 50), dim=40, trials=2, throw=False)
    fl.save(runs, tmp_path / "wild.zarr")
    back = fl.load(tmp_path / "wild.zarr")
    assert back.result == runs.result
    assert np.isnan(back.train_error[-1]) or np.isinf(back.train_error[-1])


def test_refusals(tmp_path, task):
    runs = fl.simulate(fl.Linear(), task, fl.GradientDescent(0.1, 2), dim=20, trials=2)
    path = tmp_path / "runs.zarr"
    fl.save(runs, path)
    with pytest.raises(FileExistsError, match="overwrite=True to replace it"):
        fl.save(runs, path)
    fl.save(runs, path, overwrite=True)
    (tmp_path / "notes.zarr").mkdir()
    with pytest.raises(FileExistsError, match="is no zarr store: it is not overwritten"):
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


@pytest.mark.parametrize("name", ["limit.csv", "limit.nc", "limit.npz", "limit.parquet", "limit"])
def test_nothing_but_zarr_is_written(tmp_path, task, name):
    """Before, a folder in zarr's format had the name of a table."""
    runs = fl.simulate(fl.Linear(), task, fl.GradientDescent(0.1, 2), dim=20, trials=2)
    with pytest.raises(ValueError, match=r"needs a name that ends in \.zarr, e\.g\. .*limit\.zarr.*numpy\.savetxt"):
        fl.save(runs, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_citation():
    assert "Nishiyama" in fl.citation()
    assert fl.__version__ in fl.citation()
