"""Every model, task and training that the package ships, small; benchmarks/conformance.py runs all rows at dim 2000.

Keys are fixed and limits are compared with runs at 4 combined standard errors.
"""

from collections import Counter

import equinox as eqx
import jax
import pytest
from table import ROWS

import flowlimit as fl

QUICK = ("network, descent",)
"""Rows that plain pytest runs too."""
ELSEWHERE = {
    "linear, flow": "exactly in truths/test_linear_limit.py; the order of small steps in: network, flow",
    "linear, point mass": "network, law of starts",
    "network, gauss, descent": "network, decay",
    "network, atoms": "linear, many atoms",
    "linear, binary data": "network, binary data",
    "network, sparse data": "linear, uniform data",
    "linear, two variances": "exactly in truths/test_spectra.py; sign teacher, two variances",
    "depth 3, descent": "truths/test_network_spectra.py; depth 3, flow, whose last check has two descents",
    "tanh, random start": "Cauchy's loss",
    "sign teacher": "sign teacher, two variances; batches, sign teacher",
    "Huber, network": "Huber; logistic teacher, a network with a loss by paths",
    "committee": "two-index model",
    "batches, network": "batches; kept batch, fresh labels",
    "momentum": "exactly in truths/test_trainings.py; Nesterov, schedules",
    "Langevin": "exactly in truths/test_trainings.py; Langevin, network",
}
"""Rows of benchmarks/conformance.py alone, ten seconds of compilation each, and where their parts are tested here."""
HERE = {name: row for name, row in ROWS.items() if name not in ELSEWHERE}


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in HERE])
def test_row(name, traced):
    model, task, training = ROWS[name]
    is_flow = isinstance(training, fl.GradientFlow)
    found = fl.conform(model, task, training, trials=10 if is_flow else 20)  # a flow's trials take a second each
    assert found.passed, found
    # Panels of other lengths may need other shapes; rough limits, from 0.2 on, have fewer paths. Losses of one's own
    # take the same programs as those of the package, in twice the time.
    if not (is_flow or isinstance(task.loss, fl.CustomLoss)):
        changed = jax.tree.map(lambda x: 1.01 * x if eqx.is_inexact_array(x) and not x.ndim else x, model)
        assert not traced(lambda: fl.simulate(changed, task, training, dim=400, trials=2, key=1))
        assert not traced(lambda: fl.solve_dmft(changed, task, training, rtol=0.19, throw=False))


@pytest.mark.parametrize(("rows", "times"), [(ROWS, 2), (HERE, 1)], ids=["twice in the table", "once here"])
def test_everything_is_there(rows, times):
    nouns = lambda leaf: isinstance(leaf, fl.Law | fl.Loss | fl.Design)
    kinds = Counter()
    for model, task, training in rows.values():
        parts = [model, task, training, task.loss, task.target, task.design]
        kinds.update(
            {type(part).__name__ for part in parts} | {type(x).__name__ for x in jax.tree.leaves(task, is_leaf=nouns)}
        )
    shipped = [
        *("DiagonalLinear", "Linear", "Reparametrized", "Regression", "Classification", "GeneralizedLinear"),
        *("GradientFlow", "GradientDescent", "StochasticGradientDescent", "Langevin"),
        *("Bernoulli", "BernoulliGauss", "Empirical", "Independent", "Normal"),
        *("PointMass", "SparseRademacher", "GaussianDesign", "BinaryDesign", "IIDDesign"),
        *("CustomLoss", "HuberLoss", "LogisticLoss", "SquaredLoss"),
    ]
    assert {name: kinds[name] for name in shipped if kinds[name] < times} == {}
