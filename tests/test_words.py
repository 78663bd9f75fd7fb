"""Words of the field are understood: unknown names, fields and flags are refused with what may have been meant."""

import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit import words
from flowlimit.problem.requests import named_observables

TASK = fl.Regression(aspect_ratio=0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
STEPS = fl.GradientDescent(step_size=0.1, num_steps=3)
NUMBERS = {"aspect_ratio": 0.5, "noise_var": 0.1, "target": fl.Normal()}


def test_every_word_means_something_that_there_is():
    public = {name for name in fl.__all__ if name != "__version__"}
    assert {name for names in words.NAMES.values() for name in names} <= public
    kinds = [getattr(fl, name) for name in public if isinstance(getattr(fl, name), type)]
    fields = {field for kind in kinds for field in getattr(kind, "__dataclass_fields__", ())}
    fields |= {"rtol", "key", "dim", "trials", "time_limit"}  # of verbs
    assert {name for names in words.FIELDS.values() for name in names} <= fields
    assert all(word == word.lower().strip("_") for word in [*words.FIELDS, *words.NAMES])


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("SGD", "StochasticGradientDescent"),
        ("GD", "GradientDescent"),
        ("Lasso", "DiagonalLinear"),
        ("DLN", "DiagonalLinear"),
        ("rate", "convergence_rate"),
        ("solve", "solve_dmft"),
        ("Bernouli", "Bernoulli"),
        ("diagonallinear", "DiagonalLinear"),
    ],
)
def test_names(name, meant):
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'; did you mean fl\.{meant}\?$"):
        getattr(fl, name)


def test_a_name_is_explained_without_jax():
    code = (
        "import sys, flowlimit\n"
        "try: flowlimit.SGD\n"
        "except AttributeError as error: assert 'did you mean' in str(error)\n"
        "assert not hasattr(flowlimit, '__wrapped__')\n"
        "assert not {'jax', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("make", "meant"),
    [
        (lambda: fl.DiagonalLinear(alpha=0.3), "init_scale"),
        (lambda: fl.DiagonalLinear(0.3, lambda_=0.1), "weight_decay"),
        (lambda: fl.Linear(l2=0.1), "weight_decay"),
        (lambda: fl.DiagonalLinear(0.3, L=3), "depth"),
        (lambda: fl.GradientDescent(lr=0.1, num_steps=3), "step_size"),
        (lambda: fl.GradientDescent(learning_rate=0.1, num_steps=3), "step_size"),
        (lambda: fl.GradientDescent(eta=0.1, num_steps=3), "step_size"),
        (lambda: fl.GradientDescent(0.1, epochs=3), "num_steps"),
        (lambda: fl.GradientDescent(0.1, steps=3), "num_steps"),
        (lambda: fl.StochasticGradientDescent(batch_size=0.1, step_size=0.1, num_steps=3), "batch_fraction"),
        (lambda: fl.GradientFlow(T=3.0), "horizon"),
        (lambda: fl.GradientFlow(time=3.0), "horizon"),
        (lambda: fl.Regression(alpha=0.5, noise_var=0.1, target=fl.Normal()), "aspect_ratio"),
        (lambda: fl.Regression(delta=0.5, noise_var=0.1, target=fl.Normal()), "aspect_ratio"),
        (lambda: fl.Regression(gamma=0.5, noise_var=0.1, target=fl.Normal()), "aspect_ratio"),
        (lambda: fl.Regression(0.5, sigma2=0.1, target=fl.Normal()), "noise_var"),
        (lambda: fl.Regression(0.5, sigma=0.1, target=fl.Normal()), "noise_var"),
        (lambda: fl.Bernoulli(sparsity=0.1), "probability"),
        (lambda: TASK.replaced(delta=2.0), "aspect_ratio"),
        (lambda: fl.from_dict({"kind": "DiagonalLinear", "alpha": 0.3}), "init_scale"),
        (lambda: fl.sweep(fl.fixed_point, fl.DiagonalLinear(0.3), TASK, over={"model.alpha": [0.1]}), "init_scale"),
    ],
)
def test_fields(make, meant):
    with pytest.raises((TypeError, ValueError), match=rf"did you mean {meant}\?$"):
        make()


def test_an_unknown_field_of_a_constructor_is_a_type_error_that_lists_the_fields():
    with pytest.raises(TypeError, match=r"^GradientFlow: given unknown zzz; its fields are horizon$"):
        fl.GradientFlow(zzz=1.0)


def test_words_for_verbs_and_functions_of_numpy():
    """In a process of its own: here types of arguments are checked before."""
    code = (
        "import flowlimit as fl, numpy as np\n"
        "problem = fl.Regression(0.5, noise_var=0.1, target=fl.Normal()), fl.GradientDescent(0.1, num_steps=3)\n"
        "try: fl.solve_dmft(fl.Reparametrized(lambda x: np.tanh(x), init=0.5), *problem)\n"
        "except ValueError as error: assert 'use jax.numpy in place of numpy, e.g. jnp.tanh' in str(error), error\n"
        "else: raise AssertionError\n"
        "try: fl.sweep('rate', fl.Linear(), fl.Regression(0.5, noise_var=0.1, target=fl.Normal()), over={'key': [0]})\n"
        "except TypeError as error: assert str(error).endswith('did you mean fl.convergence_rate?'), error\n"
        "else: raise AssertionError"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def solve(model, **options):
    return fl.solve_dmft(model, TASK, STEPS, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: fl.Regression(0.5, noise_var=0.1, target=np.ones(100)),
            r"needs a Law, .*target=fl\.Empirical\(values\)$",
        ),
        (lambda: fl.GeneralizedLinear(0.5, target=[1.0, 2.0], loss=fl.HuberLoss()), r"target=fl\.Empirical\(values\)$"),
        (lambda: fl.Regression(-1.0, noise_var=0.1, target=fl.Normal()), r"aspect_ratio: .*\(n/d, samples over dim\)"),
        (lambda: fl.Regression(**NUMBERS, design=fl.MatrixDesign(np.eye(3))), "needs aspect_ratio=1, which is n/d"),
        (lambda: named_observables(lambda w, w_star: w), r"needs names with functions, e.g. \{'overlap': lambda w"),
        (
            lambda: solve(fl.Linear(), observables={"a": lambda w: w}),
            r"'a', which does not take two arguments, .*lambda w, w_star",
        ),
        (lambda: solve(fl.Linear(), observables={"a": jnp.tanh}), r"'a', which does not take two arguments"),
    ],
)
def test_messages_say_the_fix(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()
