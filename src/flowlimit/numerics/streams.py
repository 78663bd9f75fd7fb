"""Random streams: one key, many purposes, each stream addressed by (purpose, index).

A stream does not depend on how many others there are, so trial i is the same whatever the number of trials or devices.
"""

import enum
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from ..types import PRNGKey
from .shown import shown


class Purpose(enum.IntEnum):
    """What a stream is for. The numbers are part of the results: append, never renumber."""

    DESIGN = 0
    TARGET = 1
    NOISE = 2
    INIT = 3
    PATHS = 4
    OUTPUTS = 5
    STEPS = 6
    PROBES = 7


def as_key(key: Any) -> PRNGKey:
    """Make a jax key from an int, or return the key that was given.

    Examples
    --------
    >>> as_key(0) == as_key(as_key(0))
    Array(True, dtype=bool)
    """
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        if not -(2**63) <= key < 2**63:
            bits = int(key).bit_length()  # too many digits may not print
            raise ValueError(f"key: given an int of {bits} bits, needs at most 64 with its sign, e.g. key=0")
        # As jax.random.key makes it, but for flags of the user's program: kind of generator, offset, precision.
        words = np.array([(int(key) >> 32) & 0xFFFFFFFF, int(key) & 0xFFFFFFFF], dtype=np.uint32)
        return jax.random.wrap_key_data(jnp.asarray(words), impl="threefry2x32")
    if isinstance(key, jax.Array) and jnp.issubdtype(key.dtype, jax.dtypes.prng_key) and key.ndim == 0:
        return key
    raise TypeError(f"key: given {shown(key)}, needs an int or a single jax key, e.g. key=0 or key=jax.random.key(0)")


def seed_of(key: PRNGKey, purpose: Purpose, index: int) -> tuple[int, ...]:
    """Return the words of stream ``(purpose, index)``, to seed a generator of numpy's with.

    They are remembered: points of a sweep have the same streams, and operations of jax take longer than a draw.
    """
    return _words(str(jax.random.key_impl(key)), tuple(np.asarray(jax.random.key_data(key)).tolist()), purpose, index)


@lru_cache(4096)
def _words(generator: str, key: tuple[int, ...], purpose: Purpose, index: int) -> tuple[int, ...]:
    whole = jax.random.wrap_key_data(jnp.asarray(np.array(key, dtype=np.uint32)), impl=generator)
    return tuple(np.asarray(jax.random.key_data(stream(whole, purpose, index))).tolist())


def stream(key: PRNGKey, purpose: Purpose, index: int | Int[Array, ""] = 0) -> PRNGKey:
    """Return the key of stream ``(purpose, index)``.

    Examples
    --------
    >>> bool(stream(as_key(0), Purpose.NOISE, 3) == stream(as_key(0), Purpose.DESIGN, 3))
    False
    """
    return jax.random.fold_in(jax.random.fold_in(key, int(purpose)), index)
