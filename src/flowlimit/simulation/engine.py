"""What an engine is: a way to advance several models on one data set from saved time to saved time.

Positions are steps (gradient descent) or times (flows). A call of `advance` records the targets of its chunk and ends
at the chunk's stop, where the driver can show progress, read weights, or end the run.
"""

import abc
from collections.abc import Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ..problem.flow import Flow
from ..results import Code
from ..types import PRNGKey, Scalar
from .data import Data
from .measure import Observables

ThetaModels = Float[Array, "models *parameters dim"]
RUNNING, NOT_FINITE = 0, 1
"""Why a model ended, as compiled programs say it; numbers from 2 on belong to the engine, see `Engine.failure`."""


class Chunk(eqx.Module):
    """Positions to record, ascending and padded with the stop, and the position to stop at."""

    targets: Float[Array, "slots"]
    stop: Scalar


class Failure(NamedTuple):
    """Why a model ended: a code, what happened to it, and what to do."""

    code: Code
    happened: str
    fix: str


class State(eqx.Module):
    """Where a run stands: all models of a group on the data of one trial."""

    position: Scalar
    theta: ThetaModels
    status: Int[Array, "models"]
    """`RUNNING`, and from the call on in which a model ended, why: `NOT_FINITE`, or the engine's own number."""
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

    @abc.abstractmethod
    def failure(self, status: int) -> Failure:
        """Return what a status other than `RUNNING` means."""


def new_status(old: Int[Array, "models"], own: Int[Array, "models"], w: Float[Array, "models ..."]) -> Any:
    """Return the status after a call that ended with the engine's ``own``: the first reason to end stays."""
    finite = jnp.isfinite(w).reshape(len(w), -1).all(axis=1)
    now = jnp.where(own != RUNNING, own, jnp.where(finite, RUNNING, NOT_FINITE))
    return jnp.where(old != RUNNING, old, now)
