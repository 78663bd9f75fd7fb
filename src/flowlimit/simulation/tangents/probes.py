"""Probes: random vectors over samples along which traces are measured (Hutchinson), fresh ones at every time.

One tangent answers the kicks of all times together: along probes that are orthogonal from time to time, what it says
of one time is that time's trace, and the others average to zero. Orthogonal and not only independent: the multiple of
the identity in a response then drops out, which is most of the noise where the training error is small.
"""

import numpy as np
from jaxtyping import Float
from numpy.polynomial import legendre

SHAPES = 4
"""Slow kicks: polynomials in log time up to this degree less one."""
DECADES = 3.0
Block = Float[np.ndarray, "times probes samples"]


class Probes:
    """Draws probes time after time: |probe|^2 = samples; of one tangent, orthogonal while samples are left for it.

    Examples
    --------
    >>> probes = Probes(2, 10, np.random.default_rng(0))
    >>> first, second = probes.draw(3), probes.draw(4)
    >>> inside = first[:, 0] @ second[:, 0].T
    >>> bool(np.allclose(inside, 0.0)), bool(np.allclose((first**2).sum(axis=-1), 10.0))
    (True, True)
    """

    def __init__(self, count: int, samples: int, rng: np.random.Generator):
        self.count, self._samples, self._rng = count, samples, rng
        self._before = np.zeros((count, samples, 0))

    def draw(self, times: int, *, keep: bool = True) -> Block:
        """Return probes for some more times; those that are not kept leave no trace."""
        room = self._samples - self._before.shape[-1]
        if room < times:  # all directions are taken: begin anew
            before, parts = np.zeros((self.count, self._samples, 0)), -(-times // self._samples)
        else:
            before, parts = self._before, 1
        blocks = [
            self._orthogonal(before if not i else before[..., :0], size) for i, size in enumerate(_sizes(times, parts))
        ]
        if keep:
            self._before = np.concatenate([before, blocks[-1]], axis=-1) if parts == 1 else blocks[-1]
        return np.sqrt(self._samples) * np.moveaxis(np.concatenate(blocks, axis=-1), -1, 0)

    def keep(self, block: Block) -> None:
        """Keep probes that were drawn without being kept."""
        taken = np.moveaxis(block, 0, -1) / np.sqrt(self._samples)
        room = self._samples - self._before.shape[-1]
        self._before = np.concatenate([self._before, taken], axis=-1) if room >= len(block) else taken

    def _orthogonal(self, before: np.ndarray, size: int) -> np.ndarray:
        normals = self._rng.normal(size=(self.count, self._samples, size))
        for _ in range(2):  # once is not enough in floating point
            normals -= before @ (before.transpose(0, 2, 1) @ normals)
        return np.linalg.qr(normals)[0]


def _sizes(times: int, parts: int) -> list[int]:
    return [len(part) for part in np.array_split(np.arange(times), parts)]


class Slow:
    """Kicks along one probe that vary slowly: what is left of time by them is polynomials in log time.

    A response to a kick of a given course, slow as all courses here are, is that of its polynomial, without the noise
    of fresh probes.
    """

    def __init__(self, samples: int, end: float, rng: np.random.Generator):
        self.direction = rng.choice([-1.0, 1.0], size=samples)
        self._end = end

    def shapes(self, times: Float[np.ndarray, "times"]) -> Float[np.ndarray, "times shapes"]:
        """Return the courses at given times."""
        x = np.log1p(times / self._end * 10.0**DECADES) / np.log1p(10.0**DECADES)
        return legendre.legvander(2.0 * x - 1.0, SHAPES - 1)

    def kicks(self, times: Float[np.ndarray, "times"]) -> Block:
        """Return the kicks at given times, a tangent for each course."""
        return self.shapes(times)[:, :, None] * self.direction
