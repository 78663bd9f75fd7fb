"""Trials over devices and rows of X over devices, in one process and in two, each in processes of their own."""

import numpy as np
import pytest

import flowlimit as fl

SCRIPT = """
import json, sys
import flowlimit as fl, jax, numpy as np
rank, processes, address = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
if processes > 1:
    jax.distributed.initialize(address, processes, rank)
task = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
models = [fl.DiagonalLinear(0.3), fl.DiagonalLinear(2.0), fl.Linear(init_scale=0.5)]
noisy = fl.StochasticGradientDescent(step_size=0.05, num_steps=40, batch_fraction=0.5, label_noise=0.2)
X = np.random.default_rng(0).normal(size=(20, 31)) / 31**0.5
data = fl.Dataset(X, X @ np.ones(31), w_star=np.ones(31))
classes = fl.Classification(1.0, target=fl.Normal(), design=fl.MatrixDesign(np.eye(13)))


def numbers(kinds, **options):
    problems = {
        "steps": (models[:2], task, noisy, {"dim": 62, "trials": 3}),
        "flow": (models[:1], task, fl.GradientFlow(4.0), {"dim": 62, "trials": 2, "weights_at": [4.0]}),
        "data": (models[2:], data, fl.GradientDescent(0.1, num_steps=10), {"trials": 3}),
        "matrix": (models[2:], classes, fl.GradientDescent(0.1, num_steps=10), {"trials": 3}),
    }
    out = {}
    for kind in kinds:
        model, own, training, more = problems[kind]
        for index, runs in enumerate(fl.simulate(model, own, training, key=0, **more, **options)):
            out[f"{kind} {index}"] = {k: v.tolist() for k, v in runs.values.items()} | {"steps": runs.stats.steps}
            if runs.weights is not None:
                out[f"{kind} {index}"]["weights"] = runs.weights.tolist()
    return out
"""

ONE_PROCESS = (
    SCRIPT
    + """
every = ("steps", "flow", "data", "matrix")
out = {
    "one": numbers(every, devices=jax.devices()[:1]),
    "trials": numbers(("steps", "flow"), devices=jax.devices()[:2]),  # three trials: the last batch is not full
    "rows": numbers(every, devices=jax.devices()[:3], devices_per_trial=3),  # which does not divide the rows
    "both": numbers(("steps",), devices=jax.devices(), devices_per_trial=2),
}
print(json.dumps(out))
"""
)

TWO_PROCESSES = (
    SCRIPT
    + """
out = {
    "trials": numbers(("steps",), devices=jax.devices()),
    "rows": numbers(("steps",), devices=jax.devices(), devices_per_trial=2),
}
few = fl.simulate(models[2], data, fl.GradientDescent(0.1, num_steps=5), trials=1, devices=jax.devices())
assert few.trials == 1  # both processes have a device, one trial is kept
stop = lambda fraction, message: rank == 0
long = fl.GradientDescent(0.1, num_steps=900)
stopped = fl.simulate(models[2], data, long, devices=jax.devices(), progress=stop, throw=False)
out["stopped"] = stopped.result.message
print(json.dumps(out))
"""
)


@pytest.fixture(scope="module")
def one_process(job):
    return job(ONE_PROCESS, devices=4)[0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["trials", "rows", "both"])
def test_devices_do_not_change_the_numbers(kind, one_process):
    assert_same(one_process["one"], one_process[kind])


@pytest.mark.slow
def test_two_processes(job, one_process):
    first, second = job(TWO_PROCESSES, devices=1, processes=2)
    assert first == second
    assert_same(one_process["one"], first["trials"])
    assert_same(one_process["one"], first["rows"])
    assert "stopped" in first["stopped"]


def assert_same(one, several):
    assert several
    for name, curves in several.items():
        for curve, values in curves.items():
            assert np.allclose(values, one[name][curve], rtol=1e-10, atol=1e-14), (name, curve)


@pytest.mark.parametrize("wrong", [0, 2])
def test_devices_per_trial_is_checked(wrong, task):
    with pytest.raises(ValueError, match="devices_per_trial: given"):
        fl.simulate(fl.Linear(), task, fl.GradientDescent(0.1, num_steps=2), dim=10, devices_per_trial=wrong)
