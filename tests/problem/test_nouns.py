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
from flowlimit.problem.checks import flag

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
    fl.Regression(2.0, noise_var=0.0, target=fl.Normal(), design=fl.BinaryDesign()),
    fl.Features(variance=fl.PointMass(0.5), target=fl.Normal()),
    fl.Spectrum([1.0, 0.5], [0.0, -2.0]),
    fl.PowerLaw(100, capacity=1.2, source=1.5),
    fl.Regression(2.0, noise_var=0.0, features=fl.PowerLaw(100, capacity=1.2, source=1.5)),
    fl.Classification(2.0, features=fl.Spectrum([1.0, 0.5], [0.0, -2.0])),
    fl.GradientFlow(horizon=1000.0),
    fl.GradientDescent(step_size=0.1, num_steps=200),
    fl.Independent(fl.Normal(), count=2),
    fl.Classification(2.0, target=fl.Normal(), slope=3.0),
    fl.GeneralizedLinear(2.0, target=fl.Independent(fl.Bernoulli(0.2), count=2), loss=fl.HuberLoss(0.5)),
    fl.GradientDescent(
        lambda i: 0.1 / (1 + i), num_steps=5, momentum=0.9, nesterov=True, decay_factor=[1.0, 1.0, 0.5, 0.0, 0.0]
    ),
    fl.StochasticGradientDescent(0.2, step_size=0.1, num_steps=50, persistent=True, label_noise=0.3),
    fl.Langevin(0.01, step_size=0.1, num_steps=50),
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
        (lambda: fl.Reparametrized(weight=np.tanh, init=np.nan), "init: given nan, needs a number, the k numbers"),
        (
            lambda: fl.Regression(0.0, noise_var=0.1, target=fl.Normal()),
            "aspect_ratio: given 0, needs a number above 0",
        ),
        (lambda: fl.Regression(0.5, noise_var=-0.1, target=fl.Normal()), "noise_var: given -0.1"),
        (
            lambda: fl.Regression(0.5, noise_var=0.1, target=0.1),
            r"target: given 0.1, needs a Law, e.g. target=fl.Bernoulli\(0.1\)",
        ),
        (
            lambda: fl.Regression(0.5, noise_var=0.1, target=fl.Normal(), design="binary"),
            "design: given 'binary', needs a Design",
        ),
        (lambda: fl.GradientFlow(horizon=0.0), "horizon: given 0, needs a number above 0"),
        (lambda: fl.GradientDescent(0.1, num_steps=0), "num_steps: given 0, needs an int of at least 1"),
        (lambda: fl.GradientDescent(True, num_steps=10), "step_size: given True"),
        (lambda: fl.Dataset(np.ones((2, 3)), np.ones(3)), r"y: given shape \(3,\), needs \(2,\)"),
        (
            lambda: fl.Dataset(np.ones((2, 3)), np.ones(2), w_star=np.ones(2)),
            r"w_star: given shape \(2,\), needs \(3,\)",
        ),
        (lambda: fl.Dataset(np.ones(3), np.ones(3)), r"X: given shape \(3,\), needs a matrix"),
        (lambda: fl.Dataset(np.ones((2, 3)), [np.nan, 1.0]), "y: given entries that are not finite"),
    ],
)
def test_refusals(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: fl.DiagonalLinear(0.3, depth=100_000),
            "depth: given 100000, needs an int of at least 2 and at most 64",
        ),
        (lambda: fl.DiagonalLinear(10**400), "init_scale: given 1000.*beyond double precision, needs a number above 0"),
        (lambda: fl.DiagonalLinear(10**5000), "init_scale: given an int, beyond double precision"),
        (lambda: fl.DiagonalLinear(1e-320), "init_scale: given 9.99989e-321, .* needs a size from 1e-75 to 1e[+]75"),
        (lambda: fl.DiagonalLinear(0.001, depth=60), "init_scale: given 0.001, whose power 118 .* from 0.0029 to"),
        (lambda: fl.DiagonalLinear([0.3, 1e-200]), "init_scale: given 1e-200, .* needs a size from"),
        (
            lambda: fl.Regression(0.5, noise_var=1e200, target=fl.Normal()),
            "noise_var: given 1e[+]200, .* needs a size from",
        ),
        (lambda: fl.Bernoulli(1.5), "probability: given 1.5, needs a number of at least 0 and at most 1"),
        (lambda: fl.Bernoulli(np.nan), "probability: given nan"),
        (lambda: fl.Normal(np.bool_(True)), "std: given np.True_, needs a number"),
        (lambda: fl.Normal(1j), "std: given 1j, needs a number"),
        (lambda: fl.Empirical([True, False]), r"values: given \[True, False\], needs a non-empty list"),
        (lambda: fl.Empirical([[1.0], [1.0, 2.0]]), "values: given .*, needs a non-empty list"),
        (lambda: fl.Empirical([0.0, np.inf]), "values: given inf"),
        (
            lambda: fl.Independent(fl.Bernoulli(0.1), count=14),
            "count: given 14 .* needs count at most 12 for its 2 strata",
        ),
        (lambda: fl.Independent(fl.Normal(), count=100), "count: given 100, needs an int of at least 1 and at most 16"),
        (
            lambda: fl.GradientDescent(lambda i: 0.1, num_steps=10**9),
            "num_steps: given 1000000000 with a schedule of step_size",
        ),
        (
            lambda: fl.GradientDescent(0.1, num_steps=10**400),
            "num_steps: given 1000.*, needs an int of at least 1 and at most",
        ),
        (
            lambda: fl.GradientDescent(lambda i: 1 / i, num_steps=5),
            r"step_size: given a function that fails \(ZeroDivisionError",
        ),
        (lambda: fl.GradientDescent(lambda i: "a", num_steps=5), "step_size: given .*, needs one number, one for each"),
        (
            lambda: fl.GradientDescent([[0.1], [0.1, 0.2]], num_steps=2),
            "step_size: given .*, needs one number, one for each",
        ),
        (
            lambda: fl.GradientDescent([0.1, np.nan], num_steps=2),
            "step_size: given nan, needs one number, one for each",
        ),
        (lambda: fl.GradientDescent(0.1, num_steps=5, momentum=1.1), "momentum: given 1.1"),
        (lambda: fl.CustomLoss(np.add, loss=np.add, error=0), "error: given 0, needs a function"),
        (lambda: flag("nesterov")("no"), "nesterov: given 'no', needs True or False"),
        (lambda: fl.Reparametrized(np.tanh, init=lambda n, w: w, num_normals=10**9), "num_normals: given 1000000000"),
        (lambda: fl.Reparametrized(np.tanh, init=[]), r"init: given shape \(0,\)"),
        (lambda: fl.Dataset("X", [1.0]), "X: given 'X', needs a matrix"),
        (lambda: fl.Dataset([[1.0, None]], [1.0]), "X: given .*, needs a matrix"),
        (lambda: fl.Dataset(np.eye(2), "ab"), "y: given 'ab', needs numbers, one entry for each of X's samples"),
        (lambda: fl.Dataset(np.eye(2), [1.0, 1.0], w_star=1j), "w_star: given 1j, needs numbers"),
        (lambda: fl.Normal().quadrature(0), "order: given 0, needs an int of at least 1 and at most 256"),
        (lambda: fl.from_dict({"kind": ["Normal"]}), r"kind: given \['Normal'\]"),
        (lambda: fl.from_dict({"kind": "Law"}), "kind: given 'Law', needs the name of"),
        (lambda: fl.from_dict({"kind": "Normal", "b": 2, "a": 3}), "Normal: given unknown a, b; its fields are std"),
    ],
)
def test_extremes_are_refused_by_name(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_extremes_that_work():
    assert fl.GradientDescent(0.1, num_steps=10**9, momentum=1.0).num_steps == 10**9
    assert fl.Empirical([jnp.array(1.0), 2]).values.tolist() == [1.0, 2.0]
    assert jax.jit(lambda a: fl.Empirical([a, 1.0]).mean)(jnp.array(3.0)) == 2.0
    assert fl.DiagonalLinear(1e-70).depth == 2
    assert fl.DiagonalLinear(0.5, depth=64).depth == 64


def test_data_of_variance_1_are_warned_of():
    """Entries should have variance 1/dim; those of variance 1 train dim times as fast as the limit says."""
    rng = np.random.default_rng(0)
    for samples, dim in ((20, 30), (200, 400), (5, 20)):
        X, y = rng.normal(size=(samples, dim)), np.zeros(samples)
        with pytest.warns(UserWarning, match=r"X: given entries of mean square .* 1/dim .* X / sqrt\(dim\)"):
            fl.Dataset(X, y)
        fl.Dataset(X / np.sqrt(dim), y)  # warnings are errors here
        fl.Dataset(2.0 * X / np.sqrt(dim), y)
        jax.jit(lambda X, y: fl.Dataset(X, y).X.sum())(X, y)


@pytest.mark.slow
def test_data_that_designs_draw_are_not_warned_of():
    for design in (fl.GaussianDesign(), fl.BinaryDesign(), fl.StudentDesign(2.2), fl.IIDDesign(fl.Bernoulli(0.01))):
        for dim in (1, 2, 10, 300):
            X = design.sample(jax.random.key(dim), 2 * dim, dim)
            fl.Dataset(X, np.zeros(2 * dim))


def test_a_target_of_too_many_atoms_has_no_limit():
    task = fl.Regression(0.5, noise_var=0.1, target=fl.Empirical(np.linspace(-1.0, 1.0, 20_000)))
    with pytest.raises(ValueError, match=r"target: given .* needs fewer, e.g. fl\.Empirical"):
        fl.fixed_point(fl.DiagonalLinear(0.3), task)
