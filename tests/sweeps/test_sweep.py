"""Sweeps in this process: their numbers against the verbs', their stores, failures and refusals."""

import gc
import json
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import xarray as xr

import flowlimit as fl
from flowlimit.sweeps import fingerprint as fingerprint_module
from flowlimit.sweeps.store import Store

TASK = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
MODEL = fl.DiagonalLinear(init_scale=0.3)


def numbers(model, task, *, factor=1.0, most=1e9):
    """A user's function: cheap, with an array, and failing beyond ``most``."""
    if factor > most:
        raise ValueError(f"factor {factor} is above {most}")
    return {"product": factor * model.init_scale, "powers": factor ** np.arange(3.0)}


@pytest.mark.slow
def test_closed_forms_are_those_of_single_calls_in_every_case():
    axes = {"model.weight_decay": [0.0, 0.1], "task.aspect_ratio": [0.5, 1.0, 2.0], "model.init_scale": [0.1, 2.0]}
    table = fl.sweep(fl.fixed_point, MODEL, TASK, over=axes)
    assert table.missing == 0
    assert not table.failures
    for decay in axes["model.weight_decay"]:
        for ratio in axes["task.aspect_ratio"]:
            for scale in axes["model.init_scale"]:
                one = fl.fixed_point(fl.DiagonalLinear(scale, weight_decay=decay), TASK.replaced(aspect_ratio=ratio))
                where = {"model.weight_decay": decay, "task.aspect_ratio": ratio, "model.init_scale": scale}
                for name in ("train_error", "test_error", "chi_w", "R_w"):
                    got, known = float(table[name].sel(where)), float(getattr(one, name))
                    assert got == pytest.approx(known, rel=1e-12), (name, where)


@pytest.mark.slow
def test_rates_at_aspect_ratio_one_are_kept_as_failures_with_their_message():
    table = fl.sweep(fl.convergence_rate, MODEL, TASK, over={"task.aspect_ratio": [0.5, 1.0]})
    assert float(table["gamma"][0]) == pytest.approx(float(fl.convergence_rate(MODEL, TASK).gamma), rel=1e-12)
    assert np.isnan(table["gamma"][1])
    (failure,) = table.failures
    assert failure.point == {"task.aspect_ratio": 1.0}
    assert "no gap" in failure.outcome.message
    assert "1 failed" in repr(table)


def test_simulations_that_differ_in_models_share_data_and_are_those_of_single_calls():
    training = fl.GradientDescent(step_size=0.1, num_steps=5)
    scales, options = [0.3, 0.5, 0.7], {"dim": 30, "trials": 3, "key": 4}
    table = fl.sweep(fl.simulate, MODEL, TASK, training, over={"model.init_scale": scales}, block_size=3, **options)
    for scale in scales:
        one = fl.simulate(fl.DiagonalLinear(scale), TASK, training, **options)
        curve = table["test_error"].sel({"model.init_scale": scale})
        assert np.allclose(curve, one.test_error, rtol=1e-12)
        assert np.allclose(curve["time"], one.times)


def test_an_option_is_an_axis_and_nouns_are_labels():
    training = fl.GradientDescent(step_size=0.1, num_steps=3)
    axes = {"task.target": [fl.Bernoulli(0.1), fl.Normal()], "key": [1, 2]}
    table = fl.sweep(fl.simulate, fl.Linear(), TASK, training, over=axes, dim=20, trials=2)
    one = fl.simulate(fl.Linear(), TASK.replaced(target=fl.Normal()), training, dim=20, trials=2, key=2)
    assert np.allclose(table["test_error"].sel({"task.target": "Normal()", "key": 2}), one.test_error, rtol=1e-12)


def test_nouns_that_print_alike_are_numbered():
    designs = [fl.MatrixDesign(np.full((2, 4), value)) for value in (0.1, 0.2)]
    size = lambda model, task: float(task.design.matrix.sum())
    table = fl.sweep(size, MODEL, TASK.replaced(design=designs[0]), over={"task.design": designs})
    assert table["value"].values.tolist() == pytest.approx([0.8, 1.6])
    assert len(set(table["value"]["task.design"].values)) == 2


def test_limits_over_steps_have_their_codes():
    training = fl.GradientDescent(step_size=0.3, num_steps=20)
    table = fl.sweep(fl.solve_dmft, fl.Linear(), TASK, training, over={"training.step_size": [0.1, 1e5]}, rtol=1e-2)
    one = fl.solve_dmft(fl.Linear(), TASK, fl.GradientDescent(0.1, num_steps=20), rtol=1e-2)
    assert np.allclose(table["test_error"][0], one.test_error, rtol=1e-12)
    assert np.allclose(table["time"][0], one.times)  # the training is an axis, so times are a number of each point
    (failure,) = table.failures
    assert failure.outcome.code is fl.Code.DIVERGED


def test_a_store_is_read_by_xarray_alone_and_lazily(tmp_path):
    table = fl.sweep(numbers, MODEL, TASK, over={"factor": range(100)}, store=tmp_path / "a.zarr", block_size=10)
    data = xr.open_zarr(tmp_path / "a.zarr", consolidated=False, chunks=None)
    assert np.allclose(data["product"], np.arange(100) * 0.3)
    assert data["powers"].shape == (100, 3)
    again = fl.open_sweep(tmp_path / "a.zarr")
    assert not again.points["product"].variable._in_memory
    assert again["product"].identical(table["product"])


def test_failed_points_are_kept_and_retried_alone(tmp_path):
    over, calls = {"factor": range(8)}, []

    def fragile(model, task, *, factor):
        calls.append(factor)
        if factor in (2, 5) and not (tmp_path / "mended").exists():
            raise RuntimeError("no licence")
        return factor**2

    first = fl.sweep(fragile, MODEL, TASK, over=over, store=tmp_path / "a.zarr", block_size=4)
    assert [failure.point["factor"] for failure in first.failures] == [2.0, 5.0]
    assert first.failures[0].outcome.message == "RuntimeError: no licence"
    (tmp_path / "mended").touch()
    calls.clear()
    same = fl.sweep(fragile, MODEL, TASK, over=over, store=tmp_path / "a.zarr")
    assert len(same.failures) == 2
    assert not calls  # done is done
    mended = fl.sweep(fragile, MODEL, TASK, over=over, store=tmp_path / "a.zarr", retry_failed=True)
    assert calls == [2, 5]
    assert not mended.failures
    assert np.array_equal(mended["value"], np.arange(8.0) ** 2)


def test_shards_together_are_the_whole(tmp_path):
    over = {"factor": range(30)}
    whole = fl.sweep(numbers, MODEL, TASK, over=over, block_size=4)
    for i in range(3):
        part = fl.sweep(numbers, MODEL, TASK, over=over, store=tmp_path / "a.zarr", block_size=4, shard=f"{i}/3")
        assert (part.missing > 0) == (i < 2)
    assert np.array_equal(part["product"], whole["product"])


def test_what_was_torn_is_computed_again(tmp_path):
    over, path = {"factor": range(12)}, tmp_path / "a.zarr"
    whole = fl.sweep(numbers, MODEL, TASK, over=over, store=path, block_size=4)["powers"]
    (path / "powers" / "c" / "1" / "0").unlink()  # data lost after its mark was written
    (path / "marks" / "block-00000002.json").write_text('{"block": 2, "po')  # a mark cut short
    assert set(Store(path).done()) == {0}
    again = fl.sweep(numbers, MODEL, TASK, over=over, store=path)
    assert set(Store(path).done()) == {0, 1, 2}
    assert again["powers"].identical(whole)


def test_a_store_of_another_sweep_is_refused(tmp_path, monkeypatch):
    path, over = tmp_path / "a.zarr", {"factor": [1.0, 2.0]}
    fl.sweep(numbers, MODEL, TASK, over=over, store=path)
    with pytest.raises(FileExistsError, match=r"model.init_scale: the store has 0.3, given 0.5"):
        fl.sweep(numbers, fl.DiagonalLinear(0.5), TASK, over=over, store=path)
    with pytest.raises(FileExistsError, match=r"over.factor"):
        fl.sweep(numbers, MODEL, TASK, over={"factor": [1.0, 3.0]}, store=path)
    with pytest.raises(FileExistsError, match=r"most: the store has None, given 5"):
        fl.sweep(numbers, MODEL, TASK, over=over, store=path, most=5)
    with pytest.raises(FileExistsError, match=r"verb"):
        fl.sweep(lambda model, task, *, factor: factor, MODEL, TASK, over=over, store=path)
    now = fingerprint_module.RESULTS_VERSION
    monkeypatch.setattr(fingerprint_module, "RESULTS_VERSION", 1)
    with pytest.raises(FileExistsError, match=f"results_version: the store has {now}, given 1"):
        fl.sweep(numbers, MODEL, TASK, over=over, store=path)
    assert fl.open_sweep(path)["product"].shape == (2,)  # reading it is no matter
    metadata = json.loads((path / "zarr.json").read_text())
    metadata["attributes"]["format"] = 99
    (path / "zarr.json").write_text(json.dumps(metadata))
    with pytest.raises(ValueError, match="upgrade flowlimit"):
        fl.open_sweep(path)


def test_the_first_point_may_give_nothing():
    """A limit that ran out of time has empty curves: what a row looks like is learnt from the next."""
    training, axis = fl.GradientDescent(0.1, num_steps=3), {"time_limit": [1e-3, 60.0]}
    table = fl.sweep(fl.solve_dmft, fl.Linear(), TASK, training, over=axis, rtol=1e-2)
    assert np.isnan(table["test_error"][0]).all()
    assert np.isfinite(table["test_error"][1]).all()
    assert table.failures[0].outcome.code is fl.Code.NO_ANSWER


def test_stopping_by_progress_leaves_what_is_done(tmp_path):
    seen = []

    def stop(fraction, message):
        seen.append((fraction, message))
        return len(seen) == 2

    over = {"factor": range(12)}
    part = fl.sweep(numbers, MODEL, TASK, over=over, store=tmp_path / "a.zarr", block_size=4, progress=stop)
    assert part.missing == 4
    assert seen[1][0] == pytest.approx(8 / 12)
    assert "8 of 12 points" in seen[1][1]
    assert "load" in seen[1][1]
    rest = fl.sweep(numbers, MODEL, TASK, over=over, store=tmp_path / "a.zarr", progress=stop)
    assert rest.missing == 0
    assert len(seen) == 3


def test_any_executor_will_do(tmp_path):
    with ThreadPoolExecutor(2) as pool:
        table = fl.sweep(numbers, MODEL, TASK, over={"factor": range(50)}, block_size=3, executor=pool)
    assert np.allclose(table["product"], np.arange(50) * 0.3)


def test_workers_that_join_late_get_work(monkeypatch):
    monkeypatch.setattr("flowlimit.sweeps.executors.SECONDS_A_LOOK", 0.01)
    begun = threading.Barrier(8, timeout=30)  # eight blocks at once, though there is room for three at first

    class Growing(ThreadPoolExecutor):
        looks = 0

        def nthreads(self):
            self.looks += 1
            return dict.fromkeys(range(1 if self.looks < 5 else 8), 1)

    def together(model, task, *, factor):
        if factor:  # the first point alone says what a row looks like
            begun.wait()
        return factor

    with Growing(8) as pool:
        table = fl.sweep(together, MODEL, TASK, over={"factor": range(9)}, block_size=1, executor=pool)
    assert not table.failures


def test_shapes_that_differ_are_failures_of_their_points():
    training, over = fl.GradientDescent(0.1, num_steps=4), {"training.num_steps": [4, 6]}
    table = fl.sweep(fl.simulate, fl.Linear(), TASK, training, over=over, dim=20, trials=2)
    (failure,) = table.failures
    assert "give save_at=" in failure.outcome.message


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"over": {"model.init_scal": [1.0]}}, "has no 'init_scal'; it has .*init_scale"),
        ({"over": {"model.init_scale": [1.0, -1.0]}}, "init_scale: given -1, needs a number above 0"),
        ({"over": {"task.target.probability": [0.1, 1.5]}}, "probability: given 1.5"),
        ({"over": {"speed": [1]}}, "an option of fixed_point: case"),
        ({"over": {}}, "given no axis"),
        ({"over": {"model.init_scale": 1.0}}, "needs a list of values"),
        ({"over": {"model.init_scale": [float("nan"), 1.0]}}, "NaN"),
        ({"over": [{"model.init_scale": 1.0}, {"task.noise_var": 1.0}]}, "at point 1"),
        ({"over": {"model.init_scale": [1.0]}, "shard": "2/2"}, "shard='0/8'"),
        ({"over": {"model.init_scale": [1.0]}, "block_size": 0}, "block_size: given 0"),
    ],
)
def test_refusals(arguments, match):
    with pytest.raises(ValueError, match=match):
        fl.sweep(fl.fixed_point, MODEL, TASK, **arguments)


def test_an_executor_that_is_none_is_refused():
    with pytest.raises(TypeError, match="needs a Dask client"):
        fl.sweep(fl.fixed_point, MODEL, TASK, over={"model.init_scale": [1.0]}, executor="tcp://here")
    with pytest.raises(fl.FlowlimitError, match="points all failed; the last: ValueError: factor 1 is above 0"):
        fl.sweep(numbers, MODEL, TASK, over={"factor": [1]}, most=0)
    with pytest.raises(fl.FlowlimitError, match="returned a str"):
        fl.sweep(lambda model, task: "x", MODEL, TASK, over={"model.init_scale": [1.0]})


@pytest.mark.parametrize("workers", [0, -1, True])
def test_a_cluster_needs_workers(workers):
    with pytest.raises(ValueError, match=r"workers: given .*needs an int of at least 1"):
        fl.local_cluster(workers)


def test_a_sweep_that_fails_leaves_no_folder_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    fail = lambda model, task, *, factor: 1 / 0
    with pytest.raises(fl.FlowlimitError, match="division by zero"):
        fl.sweep(fail, MODEL, TASK, over={"factor": [1.0, 2.0]})
    gc.collect()
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_limits_begin_with_their_neighbours_panels(monkeypatch):
    """One pilot for a block of four points; each point agrees with a solve of its own, at three standard errors."""
    from flowlimit.dmft.control import driver

    begun, pilot = [], driver._steady_pilot
    monkeypatch.setattr(driver, "_steady_pilot", lambda *given: begun.append(given) or pilot(*given))
    scales, training = [0.3, 0.32, 0.34, 0.36], fl.GradientFlow(10.0)
    axes, times = {"model.init_scale": scales}, [0.0, 1.0, 4.0, 10.0]
    given = {"rtol": 0.1, "save_at": times}
    table = fl.sweep(fl.solve_dmft, MODEL, TASK, training, over=axes, block_size=4, **given)
    assert len(begun) == 2  # the first point is also solved to know what a row looks like
    for scale in scales[1:]:
        alone = fl.solve_dmft(fl.DiagonalLinear(scale), TASK, training, **given)
        row = table.to_xarray().sel({"model.init_scale": scale})
        for name in ("train_error", "test_error"):
            error = np.hypot(row[f"{name}_stderr"].to_numpy(), alone[name].stderr)
            assert (np.abs(row[name].to_numpy() - alone[name].value) <= 3.0 * error + 1e-12).all()
