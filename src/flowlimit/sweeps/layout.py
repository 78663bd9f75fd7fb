"""What a sweep's store holds: points in blocks, and the shape of each number."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int


@dataclass(frozen=True)
class Layout:
    """Points, their blocks and the shapes of their numbers."""

    points: int
    block_size: int
    shapes: Mapping[str, tuple[int, ...]]
    shared: Mapping[str, list[float]]
    """Coordinates that all points share, such as the times of curves."""

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return -(-self.points // self.block_size)

    def index(self, block: int) -> Int[np.ndarray, "some"]:
        """Return the points of a block."""
        return np.arange(block * self.block_size, min((block + 1) * self.block_size, self.points))

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> "Layout":
        """Return the layout that a store's attributes tell."""
        shapes = {name: tuple(shape) for name, shape in stored["shapes"].items()}
        return cls(stored["points"], stored["block_size"], shapes, stored["shared"])
