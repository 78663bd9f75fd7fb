"""Every model, task and training that the package ships, small; benchmarks/conformance.py runs the table at dim 2000.

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


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in ROWS])
def test_row(name, traced):
    found = fl.conform(*ROWS[name])
    assert found.passed, found
    model, task, training = ROWS[name]
    # Panels of other lengths may need other shapes; rough limits, from 0.2 on, have fewer paths.
    if not isinstance(training, fl.GradientFlow):
        changed = jax.tree.map(lambda x: 1.01 * x if eqx.is_inexact_array(x) and not x.ndim else x, model)
        assert not traced(lambda: fl.simulate(changed, task, training, dim=400, trials=20, key=1))
        assert not traced(lambda: fl.solve_dmft(changed, task, training, rtol=0.19, throw=False))


def test_everything_is_there_twice():
    import jax

    nouns = lambda leaf: isinstance(leaf, fl.Law | fl.Loss | fl.Design)
    kinds = Counter()
    for model, task, training in ROWS.values():
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
    assert {name: kinds[name] for name in shipped if kinds[name] < 2} == {}
