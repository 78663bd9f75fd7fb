"""The campaign of bad input at its small size, and refusals of verbs that results are given to.

The campaign runs in a process of its own, as a user's program would: without checks of array types, which would speak
first. Its full size: python benchmarks/bad_input.py --cases 100000
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import flowlimit as fl

CAMPAIGN = Path(__file__).parents[1] / "benchmarks" / "bad_input.py"


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["nouns", "dictionaries"])
def test_every_case_works_or_refuses_by_name(layer, tmp_path):
    report = tmp_path / "report.json"
    words = [sys.executable, CAMPAIGN, "--layer", layer, "--cases", "200", "--report", report]
    subprocess.run(words, check=True, timeout=600)
    found = json.loads(report.read_text())
    assert found["counts"]["works"] > 10
    assert found["counts"]["refused"] > 50
    assert not found["faults"], "\n\n".join(f"{fault['words']}\n{fault['case']}" for fault in found["faults"])


NONE = {"train_error": np.zeros(0)}
EMPTY = fl.Limit(np.zeros(0), {"train_error": np.zeros((0, 0))}, True, *[NONE] * 3, fl.Outcome())
TASK = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
MODEL = fl.DiagonalLinear(0.3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fl.compare(EMPTY, EMPTY), "limit: given one without times"),
        (lambda: fl.plot.curves(EMPTY, names="test_error"), "names: given 'test_error', needs a list of names"),
        (lambda: fl.plot.curves(EMPTY, names=[]), "names: given .*, needs at least one name"),
        (
            lambda: fl.plot.curves(EMPTY, names=["train_error"], ax=[3]),
            "ax: given 1 of type int, needs 1",
        ),
        (lambda: fl.draw(TASK, dim=10**9, key=0), "dim: given 1000000000, for which X has .* entries; needs at most"),
        (lambda: fl.draw(TASK, dim=0, key=0), "dim: given 0, needs an int of at least 1"),
        (lambda: fl.draw(TASK.replaced(design=fl.MatrixDesign(np.eye(4)[:2])), dim=6, key=0), "dim: given 6, but"),
        (lambda: fl.conform(MODEL, TASK, fl.GradientFlow(1.0), dim=10**12), "dim: given 1000000000000, needs an int"),
        (
            lambda: fl.conform(MODEL, TASK, fl.GradientFlow(1.0), trials=1),
            "trials: given 1, needs an int",
        ),
        (lambda: fl.sweep(fl.timescales, MODEL, TASK, over={"model.init_scale": [10**400]}), "over: given .* beyond"),
        (lambda: fl.sweep(fl.timescales, MODEL, TASK, over={"": [1.0]}), "over: given .* as addresses, needs words"),
        (lambda: fl.sweep(fl.timescales, MODEL, TASK, over={"model.init_scale": {}}), "needs a list of values"),
        (lambda: fl.state_evolution(MODEL, TASK, num_steps=0), "num_steps: given 0, needs an int of at least 1"),
        (lambda: fl.state_evolution(MODEL, TASK, start=np.nan), "start: given nan, needs a number above 0"),
        (lambda: fl.small_init_path(MODEL, TASK, [1.0, np.nan]), "times: given nan, needs times above 0"),
        (lambda: fl.check(MODEL, TASK, fl.GradientFlow(1.0), dims=[]), "dims: given .*, needs a list of sizes"),
    ],
)
def test_verbs_refuse_by_name(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
