"""Probes: random vectors over samples along which traces are measured (Hutchinson), fresh ones at every time.

One tangent answers the kicks of all times together: along probes that are orthogonal from time to time, what it says
of one time is that time's trace, and the others average to zero. Orthogonal and not only independent: the multiple of
the identity in a response then drops out, which is most of the noise where the training error is small.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy.polynomial import legendre

SHAPES = 4
"""Slow kicks: polynomials in log time up to this degree less one."""
DECADES = 3.0
SLOW = 2**31
"""Number of the random stream of slow kicks; those of probes count from 0."""
Block = Float[np.ndarray, "times probes samples"]


class Probes:
    """Probes of all times: rows of a cosine transform in random order, times random signs.

    |probe|^2 = samples; those of one tangent are orthogonal as long as there are no more times than samples, after
    which they begin anew with other signs.

    Examples
    --------
    >>> probes = Probes(2, 10, seed=[0])
    >>> inside = probes.at(0, 3)[:, 0] @ probes.at(3, 7)[:, 0].T
    >>> bool(np.allclose(inside, 0.0)), bool(np.allclose((probes.at(0, 10) ** 2).sum(axis=-1), 10.0))
    (True, True)
    """

    def __init__(self, count: int, samples: int, seed: Sequence[int]):
        self.count, self._samples, self._seed = count, samples, seed
        self._rounds: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def at(self, first: int, times: int) -> Block:
        """Return the probes of some times, counted from 0."""
        return np.concatenate([self._rows(place) for place in range(first, first + times)])

    def _rows(self, place: int) -> Block:
        order, signs = self._round(place // self._samples)
        frequency = order[:, place % self._samples, None]
        waves = np.cos(np.pi / self._samples * frequency * (np.arange(self._samples) + 0.5))
        return (np.where(frequency > 0, np.sqrt(2.0), 1.0) * waves * signs)[None]

    def _round(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        if number not in self._rounds:
            rng = np.random.default_rng([*self._seed, number])
            order = rng.permuted(np.tile(np.arange(self._samples), (self.count, 1)), axis=1)
            self._rounds[number] = order, rng.choice([-1.0, 1.0], size=(self.count, self._samples))
        return self._rounds[number]


class Slow:
    """Kicks along one probe that vary slowly: what is left of time by them is polynomials in log time.

    A response to a kick of a given course, slow as all courses here are, is that of its polynomial, without the noise
    of fresh probes.
    """

    def __init__(self, samples: int, end: float, seed: Sequence[int]):
        self.direction = np.random.default_rng([*seed, SLOW]).choice([-1.0, 1.0], size=samples)
        self._end = end

    def shapes(self, times: Float[np.ndarray, "times"]) -> Float[np.ndarray, "times shapes"]:
        """Return the courses at given times."""
        x = np.log1p(times / self._end * 10.0**DECADES) / np.log1p(10.0**DECADES)
        return legendre.legvander(2.0 * x - 1.0, SHAPES - 1)

    def kicks(self, times: Float[np.ndarray, "times"]) -> Block:
        """Return the kicks at given times, a tangent for each course."""
        return self.shapes(times)[:, :, None] * self.direction
