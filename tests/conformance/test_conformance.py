"""Every model, task and training that the package ships, small; benchmarks/conformance.py runs the table at dim 2000.

Keys are fixed and limits are compared with runs at 4 combined standard errors.
"""

from collections import Counter

import pytest
from table import ROWS

import flowlimit as fl


@pytest.mark.parametrize("name", ROWS)
def test_row(name):
    found = fl.conform(*ROWS[name])
    assert found.passed, found


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
