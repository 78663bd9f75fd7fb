"""Every noun: immutable, a pytree, readable, and the same after a trip through TOML or JSON."""

import dataclasses
import json
import tomllib

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl

NOUNS = [
    fl.Bernoulli(0.1),
    fl.SparseRademacher(0.4, value=1.5),
    fl.BernoulliGauss(0.2, std=2.0),
    fl.Normal(0.7),
    fl.PointMass(3.0),
    fl.Empirical([0.0, 1.0, -4.0]),
    fl.GaussianDesign(),
    fl.BinaryDesign(),
    fl.StudentDesign(3.0),
    fl.IIDDesign(fl.Bernoulli(0.3)),
    fl.DiagonalLinear(init_scale=0.3),
    fl.DiagonalLinear(init_scale=1e-4, weight_decay=0.1, depth=3, truncation=5.0),
    fl.DiagonalLinear(init_scale=fl.Empirical([0.1, 0.2])),
    fl.DiagonalLinear(init_scale=[0.1, 0.2, 0.3]),
    fl.Linear(weight_decay=1 / 6, init_scale=1.0, init_overlap=0.2),
    fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1)),
    fl.Regression(2.0, 0.0, fl.Normal(), design=fl.BinaryDesign()),
    fl.GradientFlow(horizon=1000.0),
    fl.GradientDescent(step_size=0.1, num_steps=200),
    fl.Independent(fl.Normal(), count=2),
    fl.Classification(2.0, fl.Normal(), slope=3.0),
    fl.GeneralizedLinear(2.0, fl.Independent(fl.Bernoulli(0.2), 2), fl.HuberLoss(0.5)),
    fl.GradientDescent(lambda i: 0.1 / (1 + i), 5, momentum=0.9, nesterov=True, decay_factor=[1.0, 1.0, 0.5, 0.0, 0.0]),
    fl.StochasticGradientDescent(0.2, 0.1, 50, persistent=True, label_noise=0.3),
    fl.Langevin(0.01, 0.1, 50),
]


def to_toml(table: dict, prefix: str = "") -> str:
    """A minimal TOML writer: what `to_dict` gives must need nothing more."""
    plain = {k: v for k, v in table.items() if not isinstance(v, dict)}
    lines = [f"[{prefix}]"] if prefix else []
    lines += [f"{k} = {json.dumps(v)}" for k, v in plain.items()]
    nested = [to_toml(v, f"{prefix}.{k}".lstrip(".")) for k, v in table.items() if isinstance(v, dict)]
    return "\n".join([*lines, *nested])


@pytest.mark.parametrize("noun", NOUNS, ids=repr)
def test_round_trips(noun):
    assert fl.from_dict(noun.to_dict()) == noun
    assert fl.from_dict(json.loads(json.dumps(noun.to_dict()))) == noun
    assert fl.from_dict(tomllib.loads(to_toml(noun.to_dict()))) == noun


@pytest.mark.parametrize("noun", NOUNS, ids=repr)
def test_is_an_immutable_pytree_of_float64(noun):
    leaves, structure = jax.tree.flatten(noun)
    assert all(leaf.dtype == jnp.float64 for leaf in leaves)
    assert jax.tree.unflatten(structure, leaves) == noun
    hash(structure)
    if fields := dataclasses.fields(noun):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(noun, fields[0].name, 1.0)


@pytest.mark.parametrize("noun", [n for n in NOUNS if "array" not in repr(n)], ids=repr)
def test_prints_as_the_call_that_makes_it(noun):
    assert eval(repr(noun), vars(fl) | {name: getattr(fl, name) for name in fl.__all__}) == noun


def test_models_can_be_built_inside_transformations():
    def weight(scale):
        model = fl.DiagonalLinear(init_scale=scale, depth=3)
        return model.weight(jnp.zeros(()), model.init(jnp.zeros(0), jnp.zeros(())) * jnp.array([2.0, 1.0]))

    # w = ((2a)^3 - a^3)/3 = 7 a^3/3
    assert float(jax.grad(weight)(0.5)) == pytest.approx(7 * 0.25)
    assert jax.vmap(weight)(jnp.array([1.0, 2.0])).tolist() == pytest.approx([7 / 3, 56 / 3])


def test_functions_are_named_but_not_taken_back():
    model = fl.Reparametrized(weight=np.tanh, init=0.5)
    description = model.to_dict()
    assert description["weight"] == {"function": "numpy:tanh"} or "tanh" in description["weight"]["function"]
    with pytest.raises(
        ValueError, match=r"Reparametrized.weight: given the function .*tanh.* pass the function itself"
    ):
        fl.from_dict(description)


def test_data_are_named_by_their_digest():
    import hashlib

    X = np.arange(6.0).reshape(2, 3)
    description = fl.Dataset(X, np.ones(2)).to_dict()
    assert description["X"] == {"shape": [2, 3], "sha256": hashlib.sha256(X.tobytes()).hexdigest()}
    assert fl.Dataset(X + 1.0, np.ones(2)).to_dict()["X"] != description["X"]
    with pytest.raises(ValueError, match=r"Dataset.X: given data of shape .* load the data itself"):
        fl.from_dict(description)


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({"probability": 0.1}, "needs a dictionary with a 'kind'"),
        ({"kind": "Bernouli", "probability": 0.1}, "did you mean 'Bernoulli'"),
        ({"kind": "zzz"}, "import the module that defines"),
        ({"kind": "Bernoulli", "p": 0.1}, "given unknown p; its fields are probability, value"),
        ({"kind": "Bernoulli"}, "Bernoulli: given no probability; its fields are probability, value"),
        ({"kind": "Bernoulli", "probability": 7}, "probability: given 7"),
    ],
)
def test_dictionaries_that_are_refused(description, message):
    with pytest.raises(ValueError, match=message):
        fl.from_dict(description)


def test_a_kind_of_ones_own_carries_its_module():
    class Mine(fl.Law):
        shift: float = eqx.field(default=1.0)

        def strata(self):
            return fl.PointMass(self.shift).strata()

    description = Mine(2.0).to_dict()
    assert description["kind"] == f"{__name__}:Mine"
    assert float(fl.from_dict(description).mean) == 2.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fl.DiagonalLinear(-1.0), "init_scale: given -1, needs a number above 0, e.g. init_scale=0.3"),
        (lambda: fl.DiagonalLinear([0.1, -0.1]), "init_scale: given -0.1, needs a non-empty list"),
        (lambda: fl.DiagonalLinear(0.3, weight_decay=-0.1), "weight_decay: given -0.1, needs a number of at least 0"),
        (lambda: fl.DiagonalLinear(0.3, depth=1), "depth: given 1, needs an int of at least 2"),
        (lambda: fl.DiagonalLinear(0.3, depth=2.5), "depth: given 2.5"),
        (lambda: fl.DiagonalLinear(0.3, truncation=0.0), "truncation: given 0, needs a number above 0"),
        (lambda: fl.Reparametrized(weight=3.0, init=0.5), "weight: given 3.0, needs a function"),
        (lambda: fl.Reparametrized(weight=np.tanh, init="a"), "init: given 'a', needs a number, the k numbers"),
        (lambda: fl.Reparametrized(weight=np.tanh, init=np.nan), "init: given nan, which is not finite"),
        (lambda: fl.Regression(0.0, 0.1, fl.Normal()), "aspect_ratio: given 0, needs a number above 0"),
        (lambda: fl.Regression(0.5, -0.1, fl.Normal()), "noise_var: given -0.1"),
        (lambda: fl.Regression(0.5, 0.1, 0.1), r"target: given 0.1, needs a Law, e.g. target=fl.Bernoulli\(0.1\)"),
        (lambda: fl.Regression(0.5, 0.1, fl.Normal(), design="binary"), "design: given 'binary', needs a Design"),
        (lambda: fl.GradientFlow(horizon=0.0), "horizon: given 0, needs a number above 0"),
        (lambda: fl.GradientDescent(0.1, 0), "num_steps: given 0, needs an int of at least 1"),
        (lambda: fl.GradientDescent(True, 10), "step_size: given True"),
        (lambda: fl.Dataset(np.ones((2, 3)), np.ones(3)), r"y: given shape \(3,\), needs \(2,\)"),
        (lambda: fl.Dataset(np.ones((2, 3)), np.ones(2), np.ones(2)), r"w_star: given shape \(2,\), needs \(3,\)"),
        (lambda: fl.Dataset(np.ones(3), np.ones(3)), r"X: given shape \(3,\), needs a matrix"),
        (lambda: fl.Dataset(np.ones((2, 3)), [np.nan, 1.0]), "y: given entries that are not finite"),
    ],
)
def test_refusals(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
