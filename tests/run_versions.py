"""What must run with the lowest and the newest versions of the dependencies: each room once, with nothing else."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import flowlimit as fl

jax.config.update("jax_enable_x64", True)  # for the derivative


def near(found: float, expected: float, rel: float) -> None:
    assert abs(found - expected) <= rel * abs(expected), (found, expected)


def run_closed_forms(model: fl.DiagonalLinear, task: fl.Regression) -> None:
    near(float(fl.fixed_point(model, task).test_error), 0.054195, 1e-4)
    near(float(fl.convergence_rate(model, task).gamma), 0.025845, 1e-4)
    near(float(fl.timescales(fl.DiagonalLinear(1e-3), task).descent), 13.8153, 1e-4)
    error = lambda scale: fl.fixed_point(fl.DiagonalLinear(scale), task, case="interpolating").test_error
    near(float(jax.grad(error)(jnp.array(0.3))), 0.044824, 1e-4)


def run_limit_and_runs(model: fl.DiagonalLinear, task: fl.Regression, folder: Path) -> None:
    """A limit beside runs, both through a store; and a loss whose samples are drawn, too."""
    flow = fl.GradientFlow(3.0)
    limit, runs = fl.solve_dmft(model, task, flow, rtol=0.1), fl.simulate(model, task, flow, dim=200, trials=8, key=1)
    assert fl.compare(limit, runs)
    for name, result in (("limit", limit), ("runs", runs)):
        fl.save(result, folder / f"{name}.zarr")
        again = fl.load(folder / f"{name}.zarr")
        assert np.array_equal(again.test_error, result.test_error)
    fl.plot.curves(limit, runs).flat[0].figure.savefig(folder / "curves.png")
    signs = fl.Classification(2.0, target=fl.Normal())
    assert np.isfinite(
        fl.solve_dmft(fl.Linear(), signs, fl.GradientDescent(0.3, num_steps=4), rtol=0.2).test_error
    ).all()


def run_sweep(model: fl.DiagonalLinear, task: fl.Regression, folder: Path) -> None:
    scales = [0.1, 0.3]
    table = fl.sweep(fl.fixed_point, model, task, over={"model.init_scale": scales}, store=folder / "sweep.zarr")
    for found, expected in zip(np.asarray(table["test_error"]), (0.045405, 0.054195), strict=True):
        near(float(found), expected, 1e-4)


def run_command(folder: Path) -> None:
    call = lambda *words: subprocess.run(
        [sys.executable, *(f"-W{option}" for option in sys.warnoptions), "-m", "flowlimit.cli.process", *words],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    for words in (["init", "problem.toml"], ["convergence-rate", "problem.toml", "--json"]):
        done = call(*words)
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["gamma"] > 0.0


if __name__ == "__main__":
    nouns = fl.DiagonalLinear(0.3), fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    run_closed_forms(*nouns)
    with tempfile.TemporaryDirectory() as where:
        run_limit_and_runs(*nouns, Path(where))
        run_sweep(*nouns, Path(where))
        run_command(Path(where))
    print("jax", jax.__version__, "numpy", np.__version__)
