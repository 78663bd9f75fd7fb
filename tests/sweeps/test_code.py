"""What a user's function computes with decides whether a store is gone on with: code, closure, globals, options."""

import functools
import os
import subprocess
import sys
import threading
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import flowlimit as fl
from flowlimit.sweeps.code import UnknownCodeError, digest_of

MODEL = fl.DiagonalLinear(0.3)
TASK = fl.Regression(0.5, noise_var=0.01, target=fl.Bernoulli(0.1))
FACTOR = 2.0


def make(constant, *, shift=0.0):
    return lambda model, task, *, x=1.0: {"y": constant * x + shift + FACTOR * float(np.sin(x) + jnp.add(x, 1.0))}


def recursive(n):
    return 1 if n < 1 else recursive(n - 1)


class Constant:
    """An object whose text says nothing of its value."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return "Constant()"


def model_class(body):
    """A user's model with one name, whatever its methods."""
    methods = {"weight": lambda self, theta: theta[0], "drift": body, "__module__": "somewhere", "num_normals": 0}
    methods |= {"init": lambda self, normals, w_star: jnp.ones(1), "penalty": lambda self, theta: 0.0 * theta[0]}
    return type("Mine", (fl.Model,), methods)


def test_the_same_has_the_same_digest():
    for value in (make(1.0), recursive, Constant(1), fl.solve_dmft, jnp.sin, np.add, jax.random.key(3), {1: {2, "a"}}):
        assert digest_of(value) == digest_of(value)
    assert digest_of(make(1.0)) == digest_of(make(1.0))
    assert digest_of(Constant(1)) == digest_of(Constant(1))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (make(1.0), make(100.0)),
        (make(1.0), make(1.0, shift=1e-9)),
        (lambda x: x + 1.0, lambda x: x + 2.0),
        (lambda x=1: x, lambda x=2: x),
        (lambda *, x=1: x, lambda *, x=2: x),
        (lambda x: [lambda: x + 1], lambda x: [lambda: x - 1]),
        (functools.partial(make, 1.0), functools.partial(make, 2.0)),
        (jax.jit(lambda x: x + 1.0), jax.jit(lambda x: x + 2.0)),
        (Constant(1), Constant(2)),
        (Constant(1).__repr__, Constant(2).__repr__),
        (np.arange(3), np.arange(3.0)),
        (jax.random.key(0), jax.random.key(1)),
        (1, True),
        (0.0, -0.0),
        ([1, [2]], [[1], 2]),
        (model_class(lambda self, theta, g: -g), model_class(lambda self, theta, g: -2 * g)),
        (np.sin, np.cos),
    ],
)
def test_what_differs_has_another(one, other):
    assert digest_of(one) != digest_of(other)


def test_globals_and_the_users_modules_count(monkeypatch):
    before = digest_of(make(1.0))
    monkeypatch.setitem(make.__globals__, "FACTOR", 3.0)
    assert digest_of(make(1.0)) != before
    helper = types.ModuleType("a_users_module")
    helper.rate = 1.0
    monkeypatch.setitem(make.__globals__, "helper", helper)
    uses = lambda: helper.rate
    first = digest_of(uses)
    helper.rate = 2.0
    assert digest_of(uses) != first


def test_digests_do_not_depend_on_the_process():
    script = """
from flowlimit.sweeps.code import digest_of
def f(x, s={'a', 'b', 'c'}):
    return x in {'p', 'q', 'r'}, s
print(digest_of(f))
"""
    ask = lambda seed: (
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )
    assert ask("1") == ask("2")


def test_what_cannot_be_told_apart_is_refused(tmp_path):
    with pytest.raises(UnknownCodeError, match=r"cannot be pickled .*give numbers, arrays, functions or nouns"):
        digest_of(Constant(threading.Lock()))
    with pytest.raises(UnknownCodeError, match="Python objects"):
        digest_of(np.array([object()]))
    verb = lambda model, task, *, x, lock: {"y": x}
    with pytest.raises(TypeError, match="lock: given an object that cannot be pickled"):
        fl.sweep(verb, MODEL, TASK, over={"x": [1.0]}, store=tmp_path / "a.zarr", lock=threading.Lock())


def test_a_store_is_not_gone_on_with_by_another_function(tmp_path):
    path, over = tmp_path / "a.zarr", {"x": [1.0, 2.0]}
    fl.sweep(make(1.0), MODEL, TASK, over=over, store=path)
    fl.sweep(make(1.0), MODEL, TASK, over=over, store=path)
    with pytest.raises(FileExistsError, match="the code of the function, or a value that it reads, is another"):
        fl.sweep(make(100.0), MODEL, TASK, over=over, store=path)
    verb = lambda model, task, *, x, option: {"y": x * option.value}
    fl.sweep(verb, MODEL, TASK, over=over, store=tmp_path / "b.zarr", option=Constant(1.0))
    with pytest.raises(FileExistsError, match="option: what it holds is not what it held"):
        fl.sweep(verb, MODEL, TASK, over=over, store=tmp_path / "b.zarr", option=Constant(2.0))


def test_jax_settings_count_for_a_users_function_alone(tmp_path):
    over, axes = {"x": [1.0, 2.0]}, {"model.init_scale": [0.1, 0.3]}
    fl.sweep(make(1.0), MODEL, TASK, over=over, store=tmp_path / "a.zarr")
    fl.sweep(fl.timescales, MODEL, TASK, over=axes, store=tmp_path / "b.zarr")
    with jax.enable_x64(False):
        with pytest.raises(FileExistsError, match="jax_enable_x64: the store has 'True', given 'False'"):
            fl.sweep(make(1.0), MODEL, TASK, over=over, store=tmp_path / "a.zarr")
        fl.sweep(fl.timescales, MODEL, TASK, over=axes, store=tmp_path / "b.zarr")
