"""What is drawn again is remembered: the same points, and the same stream of others after them."""

import jax
import numpy as np

from flowlimit.numerics import quasirandom
from flowlimit.numerics.quasirandom import LARGEST, sobol_normals
from flowlimit.numerics.sobol import sobol_points
from flowlimit.numerics.streams import Purpose, as_key, seed_of, stream


def test_remembered_points_are_those_that_would_be_drawn(monkeypatch):
    first = [sobol_normals(64, 5, rng) for rng in [np.random.default_rng(11)] for _ in range(2)]
    drawn = []
    monkeypatch.setattr(quasirandom, "sobol_points", lambda *given: drawn.append(given) or sobol_points(*given))
    rng = np.random.default_rng(11)
    again = [sobol_normals(64, 5, rng) for _ in range(2)]
    assert not drawn
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(again[0], again[1])
    assert not again[0].flags.writeable
    other = np.random.default_rng(11)
    other.spawn(2)
    assert rng.integers(2**60) == np.random.default_rng(11).integers(2**60)
    np.testing.assert_array_equal(sobol_points(8, 2, rng), sobol_points(8, 2, other))
    sobol_normals(LARGEST, 2, rng)  # more than is worth its memory
    sobol_normals(LARGEST, 2, np.random.default_rng(11))
    assert len(drawn) == 2


def test_seeds_are_the_words_of_streams():
    for key in (as_key(3), jax.random.key(3, impl="rbg")):
        words = np.asarray(jax.random.key_data(stream(key, Purpose.PATHS, 2))).tolist()
        assert list(seed_of(key, Purpose.PATHS, 2)) == words
        assert seed_of(key, Purpose.PATHS, 1) != seed_of(key, Purpose.PATHS, 2) != seed_of(key, Purpose.OUTPUTS, 2)
