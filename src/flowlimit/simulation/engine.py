"""What an engine is: a way to advance several models on one data set from saved time to saved time.

Positions are steps (gradient descent) or times (flows). A call of `advance` records the targets of its chunk and ends
at the chunk's stop, where the driver can show progress, read weights, or end the run.
"""

import abc
from collections.abc import Mapping
from typing import Any

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int

from ..problem.flow import Flow
from ..types import PRNGKey, Scalar
from .data import Data
from .measure import Observables

ThetaModels = Float[Array, "models *parameters dim"]


class Chunk(eqx.Module):
    """Positions to record, ascending and padded with the stop, and the position to stop at."""

    targets: Float[Array, "slots"]
    stop: Scalar


class State(eqx.Module):
    """Where a run stands: all models of a group on the data of one trial."""

    position: Scalar
    theta: ThetaModels
    alive: Bool[Array, "models"]
    """False from the call on in which a model ceased to be finite or the solver gave up."""
    steps: Int[Array, "models"]
    own: Any
    """What the engine keeps for itself."""


class Chunked(eqx.Module):
    """What a call of `advance` returns: curves at the chunk's targets, and the weights at its stop."""

    values: Mapping[str, Float[Array, "models slots"]]
    weights: Float[Array, "models *outputs dim"]


class Engine(eqx.Module):
    """A way to advance; hashable, so that it can be a static argument of jit."""

    slots: eqx.AbstractVar[int]
    """How many targets fit in a chunk."""
    budget: eqx.AbstractVar[float]
    """How far, in positions, the first chunk may go; the driver doubles it until a chunk takes a fair time."""

    @abc.abstractmethod
    def start(self, flow: Flow, data: Data, key: PRNGKey, steps_key: PRNGKey) -> State:
        """State at time 0 of all models (the flow's leaves have a models axis in front)."""

    @abc.abstractmethod
    def advance(
        self, flow: Flow, data: Data, observables: Observables, state: State, chunk: Chunk
    ) -> tuple[State, Chunked]:
        """Run to the chunk's stop."""
