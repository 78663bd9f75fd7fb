"""Numbers do not depend on the flags of the user's program, and its own precision stays as it was."""

import pickle
import subprocess
import sys
from contextlib import ExitStack

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.problem.checks import number, vector

TASK = fl.Regression(2.0, noise_var=0.1, target=fl.Normal())
FLAGS = {
    "single precision": [(jax.enable_x64, False)],
    "other random bits": [(jax.threefry_partitionable, False)],
    "another generator": [(jax.default_prng_impl, "rbg")],
    "strict promotion": [(jax.numpy_dtype_promotion, "strict")],
    "NaN raises": [(jax.debug_nans, True)],
}


def everything():
    """A limit, runs, closed forms and a data set: numbers of every room."""
    training = fl.GradientDescent(0.5, num_steps=6)
    limit = fl.solve_dmft(fl.Linear(init_scale=0.5), TASK, training, rtol=0.1, key=3)
    runs = fl.simulate(fl.Linear(init_scale=0.5), TASK, training, dim=20, trials=2, key=3)
    sparse = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
    point = fl.fixed_point(fl.DiagonalLinear(0.3), sparse)
    data = fl.draw(TASK, dim=5, key=2**40)
    return [
        *(limit.train_error, limit.test_error, runs.train_error, runs.test_error),
        *(point.test_error, point.density(np.linspace(0.1, 1.0, 3)), sparse.target.second_moment),
        *(fl.convergence_rate(fl.DiagonalLinear(0.3), sparse).gamma, data.X, data.y),
    ]


@pytest.fixture(scope="module")
def plain():
    return everything()


@pytest.mark.slow
@pytest.mark.parametrize("flags", FLAGS)
def test_numbers_do_not_depend_on_flags(plain, flags):
    with ExitStack() as stack:
        for setting, value in FLAGS[flags]:
            stack.enter_context(setting(value))
        again = everything()
    for one, two in zip(plain, again, strict=True):
        assert np.asarray(two).dtype == np.float64
        assert (np.asarray(one) == np.asarray(two)).all()


def test_numbers_given_to_any_verb_are_double():
    """Those of verbs that compute nothing with jax, too: 0.1 in single precision is no step of this training."""
    training = fl.GradientDescent(0.1, num_steps=5)
    with jax.enable_x64(False):
        runs = fl.simulate(fl.Linear(), TASK, training, dim=20, trials=2, key=3)
        assert fl.compare(runs, runs, at=[0.1, 0.2]).times.tolist() == [0.1, 0.2]
        assert float(number("time")(0.1)) == 0.1
        assert vector("at")([0.1]).dtype == np.float64


def test_traced_numbers_in_single_precision_are_refused():
    """Their derivatives would be taken after the call, in single precision, and end inside a library."""
    error = lambda scale: fl.fixed_point(fl.DiagonalLinear(scale), TASK).test_error
    with jax.enable_x64(False), pytest.raises(TypeError, match="jax_enable_x64"):
        jax.grad(error)(0.3)
    assert jnp.isfinite(jax.grad(error)(0.3))


@pytest.mark.parametrize(
    "made",
    [
        lambda: fl.Regression(0.1, noise_var=0.3, target=fl.Empirical([0.1, 0.7])),
        lambda: fl.DiagonalLinear(fl.Normal(0.1), weight_decay=0.7),
        lambda: fl.GradientDescent(lambda i: 0.1 / (1 + i), num_steps=3, momentum=0.7),
        lambda: fl.Reparametrized(np.sinh, init=0.1),
        lambda: fl.fixed_point(fl.DiagonalLinear(0.3), fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))),
    ],
)
def test_pickles_keep_their_digits(made):
    """A worker of a sweep reads nouns from a pickle, in a process in single precision."""
    noun = made()
    with jax.enable_x64(False):
        again = pickle.loads(pickle.dumps(noun))
    assert jax.tree.structure(noun) == jax.tree.structure(again)
    for one, two in zip(jax.tree.leaves(noun), jax.tree.leaves(again), strict=True):
        assert np.asarray(two).dtype == np.asarray(one).dtype
        assert (np.asarray(two) == np.asarray(one)).all()


ORDERS = {
    "flowlimit first": "import flowlimit as fl; fl.Bernoulli(0.1); import jax, jax.numpy as jnp",
    "jax first": "import jax, jax.numpy as jnp; before = jnp.ones(3); import flowlimit as fl; fl.Bernoulli(0.1)",
}


@pytest.mark.parametrize("order", ORDERS)
def test_a_program_in_single_precision_goes_on(order):
    """In a new process, whichever is imported first; the first use of a noun changes nothing."""
    script = f"""{ORDERS[order]}
law = fl.Bernoulli(0.1)
assert law.probability.dtype == "float64" and law.second_moment.dtype == "float64"
assert not jax.config.jax_enable_x64
print(jnp.ones(3).dtype)"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["float32"]), done.stderr
