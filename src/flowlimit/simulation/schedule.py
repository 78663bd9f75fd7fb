"""Which positions (steps or times) are saved, and how a run is cut into chunks."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from ..problem.requests import Positions
from .engine import Chunk


class Piece(NamedTuple):
    """A chunk, how many of its slots are saved, and whether the weights at its stop are wanted."""

    chunk: Chunk
    saved: int
    wants_weights: bool


def next_piece(saves: Positions, weights: Positions, done: int, position: float, budget: float, slots: int) -> Piece:
    """Cut the next chunk: up to ``slots`` saves, ending where weights are wanted or the budget is spent."""
    stop = saves[min(done + slots, len(saves)) - 1]
    ahead = weights[np.searchsorted(weights, saves[done]) :]
    stop = min(stop, position + budget, ahead[0] if len(ahead) else np.inf)
    count = int(np.searchsorted(saves[done : done + slots], stop, side="right"))
    targets = np.full(slots, stop)
    targets[:count] = saves[done : done + count]
    wants = bool(len(ahead)) and stop == ahead[0]
    return Piece(Chunk(jnp.asarray(targets), jnp.asarray(stop)), count, wants)
