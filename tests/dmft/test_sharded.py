"""Paths over devices: the same limit as on one, no path leaves its device, and what is refused."""

import re

import jax
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.dmft.control.plan import make_plan
from flowlimit.dmft.engine.shards import deal_all
from flowlimit.dmft.readout.measure import Measure

NODES = 48
"""Room for nodes in the problems below."""

SOLVE = """
import json, re, sys
import equinox as eqx, jax, numpy as np
jax.config.update("jax_enable_x64", True)  # for what is taken from inside the package
import flowlimit as fl
rank, processes, address = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
if processes > 1:
    jax.distributed.initialize(address, processes, rank)
bernoulli = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
unequal = fl.Regression(0.5, noise_var=0.01, features=fl.Spectrum([1.0, 0.5, 0.2], [1.0, 0.0, 2.0]))
huber = fl.GeneralizedLinear(2.0, target=fl.Normal(), loss=fl.HuberLoss(noise_std=0.5, tail=1.0))
noisy = fl.StochasticGradientDescent(step_size=0.1, num_steps=8, batch_fraction=0.5)
problems = {
    "panels": (fl.DiagonalLinear(0.3), bernoulli, fl.GradientFlow(1.0)),
    "steps": (fl.DiagonalLinear(0.3), bernoulli, noisy),
    "sampled": (fl.Linear(), huber, fl.GradientDescent(0.2, num_steps=4)),
    "features": (fl.DiagonalLinear(0.3), unequal, fl.GradientDescent(0.2, num_steps=4)),
}


def numbers(name, devices, **options):
    limit = fl.solve_dmft(*problems[name], rtol=0.1, devices=devices, throw=False, **options)
    assert limit.replicas and limit.stats.devices == (1 if devices is None else len(devices))
    curves = {name: curve.value for name, curve in limit.curves.items()}
    others = {"C_w": limit.kernels.C_w, "R_w": limit.kernels.R_w, "w": limit.paths.w[..., ::50]}
    return {name: values.tolist() for name, values in (curves | others).items()}
"""

ONE_PROCESS = (
    SOLVE
    + """
from flowlimit.dmft.engine import march
from flowlimit.dmft.readout.grid import make_grid
from flowlimit.dmft.readout.measure import Measure
from flowlimit.dmft.control.draws import make_replica
from flowlimit.dmft.control.plan import make_plan

both = (("one", None), ("several", jax.devices()))
out = {f"{name} {kind}": numbers(name, devices) for name in problems for kind, devices in both}

key, training = jax.random.key(0), problems["steps"][2]
plan = make_plan(*problems["steps"], key=key, rtol=0.1, measure=Measure(()), memory_limit=2**32, devices=jax.devices())
grid = make_grid(training.clock, None, np.zeros(1), 8)
problem = make_replica(plan, grid.nodes, plan.counts(0, grid.nodes), 0)
rows = march.march(problem, grid.blocks, plan.measure.count)
shapes = lambda tree: [leaf.sharding.shard_shape(leaf.shape) for leaf in jax.tree.leaves(tree)]
out["shapes"] = {"normals": shapes(problem.paths.normals), "rows": shapes((rows.W, rows.response, rows.Q))}
front, empty = march.start(problem, plan.measure.count)
program = eqx.filter_jit(march.advance_blocks.__wrapped__)
lowered = program.lower((problem, *march.in_room(problem, grid.blocks), front), empty)
text = lowered.compile().compiled.as_text()
out["program"] = re.findall("= .*? (?:all-|collective-|reduce-scatter).*?[(]", text)
print(json.dumps(out))
"""
)

TWO_PROCESSES = (
    SOLVE
    + """
out = {"sampled": numbers("sampled", jax.devices())}
# What depends on a clock or on a user's answer is agreed on: the first process alone would stop, or be late.
stop = lambda fraction, message: rank == 0 and fraction > 0.2
out["stopped"] = fl.solve_dmft(*problems["sampled"], devices=jax.devices(), progress=stop, throw=False).result.message
limit = 1e-9 if rank == 1 else 1e9
late = fl.solve_dmft(*problems["sampled"], devices=jax.devices(), time_limit=limit, throw=False)
out["late"] = late.result.code.name
print(json.dumps(out))
"""
)


@pytest.fixture(scope="module")
def one_process(job):
    return job(ONE_PROCESS, devices=3)[0]  # paths that 3 does not divide


@pytest.mark.slow
@pytest.mark.parametrize("name", ["panels", "steps", "sampled", "features"])
def test_devices_do_not_change_the_limit(name, one_process):
    assert_same(one_process[f"{name} one"], one_process[f"{name} several"])


@pytest.mark.slow
def test_no_path_leaves_its_device(one_process):
    """A device has a third of the paths, and a step sends rows of operators: no more than nodes, whatever the paths."""
    paths, few = 1024, 256
    assert one_process["shapes"]["normals"] == [[NODES, own := -(-few // 3) + -(-(paths - few) // 3)]]
    assert one_process["shapes"]["rows"] == [
        [NODES, own],
        [NODES, NODES, -(-few // 3)],
        [NODES, own + 1 + NODES],
    ]  # and a column for each noise
    sent = one_process["program"]
    assert sent
    assert all("all-reduce" in line for line in sent)
    numbers = sum(
        np.prod([int(n) for n in shape.split(",") if n]) for shape in re.findall(r"f64\[([\d,]*)\]", str(sent))
    )
    twice = NODES  # in the loop that orthogonalises a row twice against all before
    assert numbers + twice == 3 * NODES + 51  # docs/sharding.md


@pytest.mark.slow
def test_two_processes(job, one_process):
    """Both give the limit of one device, and agree where only one of them is asked to stop."""
    first, second = job(TWO_PROCESSES, devices=1, processes=2)
    assert first == second
    assert_same(one_process["sampled one"], first["sampled"])
    assert "stopped" in first["stopped"]
    assert first["late"] == "NO_ANSWER"


def assert_same(one, several):
    assert one.keys() == several.keys()
    for name, values in one.items():
        scale = np.abs(values).max()
        assert np.abs(np.subtract(values, several[name])).max() <= 1e-10 * scale, name


@pytest.mark.parametrize(("paths", "few", "parts"), [(8, 4, 2), (10, 4, 3), (5, 5, 4)])
def test_every_path_is_dealt_once(paths, few, parts):
    path, live = deal_all(paths, few, parts)
    assert sorted(path[live]) == list(range(paths))
    own = -(-few // parts)  # those for the responses come first in every part
    assert set(path[:, :own][live[:, :own]]) == set(range(few))


def test_memory_is_counted_a_device(task):
    problem = fl.DiagonalLinear(0.3), task, fl.GradientDescent(0.1, num_steps=8)
    options = {"key": jax.random.key(0), "rtol": 0.1, "measure": Measure(()), "memory_limit": 2**32}
    whole, same = (make_plan(*problem, **options, devices=devices) for devices in (None, tuple(jax.devices()[:1])))
    counts = whole.counts(0, 9)
    assert whole.bytes(counts, 9) == same.bytes(counts, 9)


@pytest.mark.parametrize("devices", [[], [0], 2 * jax.devices()[:1]])
def test_devices_are_checked(devices, task):
    with pytest.raises(ValueError, match="devices: given"):
        fl.solve_dmft(fl.DiagonalLinear(0.3), task, fl.GradientFlow(1.0), devices=devices)
