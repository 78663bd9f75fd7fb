"""Kinds of calls: the same words for the same program, others for another, none for what may change."""

import enum
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh

import flowlimit as fl
from flowlimit.numerics.kinds import UnknownKindError, words
from flowlimit.simulation.programs import make_mesh


class Own(fl.DiagonalLinear):
    def penalty(self, t, theta):
        return theta @ theta


class Colour(enum.Enum):
    RED = 1


def test_numbers_in_arrays_are_not_part_of_a_kind():
    assert words(fl.DiagonalLinear(0.3)) == words(fl.DiagonalLinear(0.7))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (jnp.zeros(2), jnp.zeros(3)),
        (jnp.zeros(2), jnp.zeros(2, jnp.float32)),
        (jnp.asarray(1.0), jnp.float64(1.0).astype(jnp.int64)),
        (1, 1.0),
        (1, True),
        ("1", 1),
        ((1, 2), [1, 2]),
        ((1, (2, 3)), (1, 2, 3)),
        ({"a": 1}, {"b": 1}),
        (partial(words, 1), partial(words, 2)),
        (words, partial(words)),
        (jax.random.key(0), jax.random.key(0, impl="rbg")),
        (make_mesh((jax.devices()[0],), 1), Mesh(np.array(jax.devices()[:1]), ("trial",))),
        (fl.DiagonalLinear(0.3), fl.Linear()),
        (fl.DiagonalLinear(0.3).weight, fl.DiagonalLinear(0.3).penalty),
    ],
)
def test_what_changes_a_program_changes_its_kind(one, other):
    assert words(one) != words(other)


@pytest.mark.parametrize(
    "value",
    [
        Own(0.3),
        Own(0.3).weight,
        Colour.RED,
        lambda x: x,
        partial(lambda x: x),
        {"model": [Own(0.3)]},
        eqx.Partial(test_numbers_in_arrays_are_not_part_of_a_kind),
        object(),
        {1, 2},
    ],
    ids=["model", "method", "enumeration", "lambda", "partial", "nested", "module", "object", "set"],
)
def test_code_of_the_users_has_no_words(value):
    with pytest.raises(UnknownKindError):
        words(value)


def test_a_function_in_the_place_of_another_is_seen(monkeypatch):
    given = fl.DiagonalLinear.penalty
    assert words(given)
    monkeypatch.setattr(fl.DiagonalLinear, "penalty", lambda self, t, theta: theta @ theta)
    with pytest.raises(UnknownKindError):
        words(given)


def test_arrays_elsewhere_have_no_words():
    devices = jax.devices()
    if len(devices) < 2:
        pytest.skip("one device")
    with pytest.raises(UnknownKindError):
        words(jax.device_put(np.zeros(2), devices[1]))
