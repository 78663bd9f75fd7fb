"""What a causal solve carries from block to block, and what it costs in memory.

Arrays over nodes have space for all blocks. Rows of blocks not yet reached hold no meaning: products mask them, so a
block can be tried again with another length.

Paths may be spread over devices, each with its own part of them, see `shards`; sums over paths are then sums over all
devices, and whatever has no axis of paths is the same on each.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from ...types import Scalar

Total = Callable[[Any], Any]
"""From sums over a device's own paths to sums over all paths."""


class Paths(eqx.Module):
    """One replica's randomness: M paths of z's normals, w* and theta(0). The first paths also serve the responses."""

    normals: Float[Array, "N M"]
    theta: Float[Array, "k M"]
    w_star: Float[Array, "*teachers M"]
    probability: Float[Array, "M"]
    few_probability: Float[Array, "few"]
    kicks: Float[Array, "NK k M"]  # normals that steps add to theta; empty where none are
    root: Float[Array, "M"] | None = None  # roots of the features' variances, in w_star too; None where all are 1
    axis: str | None = eqx.field(static=True, default=None)  # of devices, if paths are spread over several
    drawn: tuple[int, int] = eqx.field(static=True, default=(0, 0))  # M and few before devices had the same number each

    @property
    def parts(self) -> int:
        """Number of devices."""
        return 1 if self.axis is None else lax.axis_size(self.axis)

    def total(self, sums: Any) -> Any:
        """Return sums over all paths from those over a device's own."""
        return sums if self.axis is None else lax.psum(sums, self.axis)

    @property
    def few_root(self) -> Float[Array, "few"] | None:
        """Roots of the variances on the paths that serve the responses."""
        return None if self.root is None else self.root[: self.few_probability.shape[0]]

    def unscaled(self, weights: Float[Array, "*axes M"]) -> Float[Array, "*axes M"]:
        """Return weights w from sqrt(s) w."""
        return weights if self.root is None else weights / jnp.broadcast_to(self.root, weights.shape)


class SamplePaths(eqx.Module):
    """One replica's randomness on the samples side: normals of f* (``teacher``), of labels, and of outputs."""

    normals: Float[Array, "N Ms"]
    teacher: Float[Array, "teachers Ms"]
    noise: Float[Array, "Ms"]
    probability: Float[Array, "Ms"]
    few_probability: Float[Array, "few_s"]
    masks: Float[Array, "NK Ms"]  # of batches, over their share; empty where none are
    axis: str | None = eqx.field(static=True, default=None)  # of devices, if paths are spread over several

    def total(self, sums: Any) -> Any:
        """Return sums over all paths from those over a device's own."""
        return sums if self.axis is None else lax.psum(sums, self.axis)


class SampleCloud(NamedTuple):
    """What `SamplePaths` are made of, as drawn on the host."""

    normals: Float[np.ndarray, "N Ms"]
    teacher: Float[np.ndarray, "teachers Ms"]
    noise: Float[np.ndarray, "Ms"]
    probability: Float[np.ndarray, "Ms"]
    few_probability: Float[np.ndarray, "few_s"]
    masks: Float[np.ndarray, "NK Ms"]


class SampleRows(eqx.Module):
    """What a stochastic samples side knows so far.

    Residuals l and their response, directions Q of C_l and C_w, the root L_w of C_w across w*, and its part ``along``
    w*, by orthonormal combinations of the teachers. Several outputs take turns in the rows, step by step.
    """

    residuals: Float[Array, "N Ms"]
    response: Float[Array, "N N few_s"]
    Q_l: Float[Array, "N Ms"]
    Q_w: Float[Array, "N M"]
    L_w: Float[Array, "N N"]
    along: Float[Array, "N teachers"]
    stein: Float[Array, "NS teachers"]  # r w* by the same combinations
    normals: Float[Array, "N Ms"] | None = None  # of outputs, where the history has fewer rows than there are steps


class TaskNumbers(eqx.Module):
    """Numbers of the task, and how well a block's two sides must agree."""

    aspect_ratio: Scalar
    noise_var: Scalar
    tolerance: Scalar


class Front(eqx.Module):
    """theta, its velocity and its derivative by the source of g, at the left end of the next block."""

    theta: Float[Array, "k M"]
    velocity: Float[Array, "k M"]
    tangent: Float[Array, "k N few"]
    z: Float[Array, "c M"] | None = None  # z/delta of the step before; None on panels


class Rows(eqx.Module):
    """Everything known at the nodes so far.

    ``W`` is w - w* and ``response`` its derivative by the source of g. R_w,
    G = (I + R_w)^-1 and the lower triangular root L
    of C_f = L L^T are operators, ``Q`` the orthonormal rows with F = L Q, see `samples_side`,
    ``overlap`` = E Q^T, see `correction`. ``iterations`` and
    ``disagreement`` say how each block ended. What a clock or a loss has no use for is empty.
    """

    W: Float[Array, "N M"]
    response: Float[Array, "N N few"]
    Q: Float[Array, "NQ M1"]
    R_w: Float[Array, "N N"]
    G: Float[Array, "N N"]
    L: Float[Array, "N N"]
    overlap: Float[Array, "NO NO"]
    averages: Float[Array, "nodes observables"]
    iterations: Float[Array, "nodes"]
    disagreement: Float[Array, "nodes"]
    noises: Float[Array, "N NW"]  # of residuals, beside W: that of labels, and on its own column each step's fresh one
    normals: Float[Array, "N M"] | None = None  # of z, where the history has fewer rows than there are steps
    basis: Float[Array, "N nodes"] | None = None  # what these normals are of those of all steps
    samples: SampleRows | None = None
    initial: Float[Array, "initial"] | None = None  # averages and the test error at time 0, which is no node of a panel


def start_front(paths: Paths, kept: int | None = None, outputs: int | None = None) -> Front:
    """Return the front at time 0; steps have so many ``outputs``."""
    k, room, few = paths.theta.shape[0], kept or paths.normals.shape[0], paths.few_probability.shape[0]
    z = None if outputs is None else jnp.zeros((outputs, paths.theta.shape[1]))
    return Front(paths.theta, jnp.zeros_like(paths.theta), jnp.zeros((k, room, few)), z)


def empty_rows(
    paths: Paths,
    observables: int,
    samples: SamplePaths | None = None,
    *,
    explicit: bool = False,
    noises: int = 0,
    kept: int | None = None,
    initial: Float[Array, "initial"] | None = None,
) -> Rows:
    """Return rows for all nodes, none of them reached; steps have columns for ``noises`` of the residuals.

    With ``kept`` the history has only so many rows, see `merging`.
    """
    nodes, M = paths.normals.shape
    room, closed, whole = kept or nodes, samples is None, kept is None
    columns = M + max(noises, 1)  # the last ones of the noises, see `samples_side.noise_columns`
    few = paths.few_probability.shape[0]
    square = lambda: jnp.zeros((room, room))  # each its own buffer: rows are updated in place
    return Rows(
        W=jnp.zeros((room, M)),
        response=jnp.zeros((room, room, few)),
        Q=jnp.zeros((room * closed, columns * closed)),
        R_w=square(),
        G=square(),
        L=square(),
        overlap=jnp.zeros((0, 0)) if explicit else square(),
        averages=jnp.zeros((nodes, observables)),
        iterations=jnp.zeros(nodes),
        disagreement=jnp.zeros(nodes),
        noises=jnp.zeros((room, noises)),
        normals=None if whole else jnp.zeros((room, M)),
        basis=None if whole else jnp.zeros((room, nodes)),
        samples=None if samples is None else _empty_samples(samples, M, kept),
        initial=initial,
    )


def _empty_samples(samples: SamplePaths, paths: int, kept: int | None) -> SampleRows:
    nodes, own = samples.normals.shape
    room, whole = kept or nodes, kept is None
    few = samples.few_probability.shape[0]
    return SampleRows(
        residuals=jnp.zeros((room, own)),
        response=jnp.zeros((room, room, few)),
        Q_l=jnp.zeros((room, own)),
        Q_w=jnp.zeros((room, paths)),
        L_w=jnp.zeros((room, room)),
        along=jnp.zeros((room, samples.teacher.shape[0])),
        stein=jnp.zeros((room * whole, samples.teacher.shape[0])),
        normals=None if whole else jnp.zeros((room, own)),
    )


def memory_bytes(nodes: int, order: int, parameters: int, paths: int, few: int) -> int:
    """Return the bytes that one replica needs.

    8 (M (3 N + 4 (q k)^2) + few (N^2 + 2 k N + 4 (q k)^2) + 7 N^2) for N nodes in blocks of q, k parameters per
    coordinate, M paths, ``few`` of them for the responses: normals, W and Q; the Newton systems; the responses; the
    operators.
    """
    small = 4 * (order * parameters) ** 2
    return 8 * (paths * (3 * nodes + small) + few * (nodes**2 + 2 * parameters * nodes + small) + 7 * nodes**2)


def sample_bytes(nodes: int, paths: int, few: int) -> int:
    """Return the bytes that a stochastic samples side adds: 8 (3 M N + few N^2 + N^2) for its M paths."""
    return 8 * (3 * paths * nodes + few * nodes**2 + nodes**2)
