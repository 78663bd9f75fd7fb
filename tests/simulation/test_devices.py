"""Trials over several devices, and the size of memory, each in a process of its own."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

SCRIPT = """
import json, sys
import flowlimit as fl, jax
assert len(jax.devices()) == int(sys.argv[1])
task = fl.Regression(0.5, 0.01, fl.Bernoulli(0.1))
models = [fl.DiagonalLinear(0.3), fl.DiagonalLinear(2.0), fl.Linear(init_scale=0.5)]
out = {}
for training in (fl.GradientDescent(0.05, 40), fl.GradientFlow(4.0)):
    for runs in fl.simulate(models, task, training, dim=60, trials=3, key=0):
        out[f"{runs.provenance['summary']}"] = {k: v.tolist() for k, v in runs.values.items()}
        assert runs.stats["devices"] == min(3, int(sys.argv[1]))
data = fl.Dataset(jax.random.normal(jax.random.key(0), (20, 30)) / 30**0.5, jax.numpy.ones(20))
runs = fl.simulate(fl.Linear(init_scale=1.0), data, fl.GradientDescent(0.1, 10), trials=3)
out["data"] = {k: v.tolist() for k, v in runs.values.items()}
print(json.dumps(out))
"""


def run(devices):
    flags = f"--xla_force_host_platform_device_count={devices}"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(devices)],
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def one():
    return run(1)


@pytest.mark.parametrize("devices", [2])  # three trials: the last batch is not full
def test_devices_do_not_change_the_numbers(devices, one):
    several = run(devices)
    assert one.keys() == several.keys()
    for name, curves in one.items():
        for curve, values in curves.items():
            assert np.allclose(values, several[name][curve], rtol=1e-12, atol=1e-15), (name, curve)
