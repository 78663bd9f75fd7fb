"""Compiled functions: the same numbers with and without the compiler's options, alone and inside another function."""

import pickle

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from flowlimit.numerics import compiling
from flowlimit.numerics.compiling import compiled


def wave(x, name):
    return jnp.sin(x) * 2.0 if name == "sine" else jnp.cos(x)


def test_same_numbers_as_without_options():
    x = np.linspace(0.0, 1.0, 7)
    for name in ("sine", "cosine"):
        assert np.allclose(compiled(wave)(x, name), eqx.filter_jit(wave)(x, name), rtol=1e-15, atol=0.0)


def test_inside_another_compiled_function_and_under_derivatives():
    quick = compiled(wave)
    nested = jax.jit(lambda x: quick(x, "sine") + 1.0)  # options would be refused here
    assert np.isclose(nested(jnp.array(0.3)), 2.0 * np.sin(0.3) + 1.0)
    assert np.isclose(jax.grad(lambda x: quick(x, "sine"))(0.3), 2.0 * np.cos(0.3))
    known = jax.jit(lambda x: quick(np.ones(()), "sine") + x)  # nothing that is traced among its arguments
    assert np.isclose(known(jnp.array(0.3)), 2.0 * np.sin(1.0) + 0.3)
    rows = jax.jit(jax.vmap(lambda x: quick(x, "sine")))(jnp.array([0.1, 0.2]))
    assert np.allclose(rows, 2.0 * np.sin([0.1, 0.2]))
    assert np.allclose(jax.vmap(lambda x: quick(x, "sine"))(jnp.array([0.1, 0.2])), rows)
    assert np.isclose(jax.lax.fori_loop(0, 3, lambda _, x: quick(x, "sine"), 0.0), 0.0)


def test_donated_arrays_are_used_up():
    add = compiled(lambda fixed, x: x + fixed, donate="all-except-first")
    fixed, x = jnp.ones(3), jnp.ones(3)
    assert add(fixed, x).tolist() == [2.0, 2.0, 2.0]
    assert x.is_deleted()
    assert not fixed.is_deleted()


def test_options_that_the_compiler_does_not_know_are_left_out(monkeypatch):
    monkeypatch.setattr(compiling, "QUICK", {"xla_no_such_option": True})
    compiling.quick_options.cache_clear()
    try:
        assert compiling.quick_options() == {}
        assert float(compiled(wave)(jnp.array(0.0), "cosine")) == 1.0
    finally:
        compiling.quick_options.cache_clear()


def test_this_version_of_the_compiler_knows_them():
    assert compiling.quick_options() == compiling.QUICK


@compiled
def pair(x, name):
    return {"wave": wave(x, name), "name": name, "none": None}


def test_what_is_compiled_ahead_is_there_when_it_is_called(traced):
    x = jnp.linspace(0.0, 1.0, 9)
    like = pair.blank(x, "sine")
    assert (like["name"], like["none"]) == ("sine", None)
    assert like["wave"].tolist() == [0.0] * 9
    pair.ahead(like["wave"], "cosine")
    compiling.is_staged()  # an operation of its own: a process that has just dropped its programs compiles it anew
    assert not traced(lambda: pair(x, "cosine"))
    assert np.allclose(pair(x, "cosine")["wave"], np.cos(x))


def test_a_compiled_function_is_pickled_by_its_name():
    assert pickle.loads(pickle.dumps(pair)) is pair
