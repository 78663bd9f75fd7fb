"""How stiff a flow is, and which solver it needs.

Along a flow the Jacobian is A X^T E X C / delta + B with A = d drift/d g, C = dw/d theta, B = d drift/d theta (a block
for each coordinate) and E = dl/df. Its large eigenvalues are those of X (C A) X^T E / delta, so they are at most the
largest eigenvalue of X^T X / delta times max |C A|, and real and negative where C A <= 0, as for every gradient flow.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..numerics.compiling import compiled
from ..problem.flow import Flow
from ..types import Coordinates, Matrix, Output, OutputRows, Scalar, Theta, ThetaRows
from .rows import Rows


def contraction(flow: Flow, t: Scalar, theta: ThetaRows, g: OutputRows) -> Coordinates:
    """C A of every coordinate: how a push on g moves the weight's velocity; of several outputs its signed norm."""

    def one(theta: Theta, g: Output) -> Scalar:
        push = lambda x: jax.jvp(lambda g: flow.drift(t, theta, g), (g,), (x,))[1]
        moved = lambda x: jax.jvp(lambda theta: flow.readout(t, theta), (theta,), (push(x),))[1]
        if not g.shape:
            return moved(jnp.ones_like(g))
        CA = jax.vmap(moved)(jnp.eye(len(g)))
        return jnp.sign(jnp.trace(CA)) * jnp.sqrt(jnp.sum(CA**2))

    return jax.vmap(one, in_axes=(-1, -1))(theta, g)


def spectral_radius(flow: Flow, t: Scalar, theta: ThetaRows, g: OutputRows, curvature: Scalar) -> Scalar:
    """Bound on the Jacobian's eigenvalues, with a tenth to spare."""

    def own(theta: Theta, g: Output) -> Scalar:
        B = jax.jacfwd(lambda theta: flow.drift(t, theta, g))(theta)
        return jnp.sqrt(jnp.sum(B**2))

    diagonal = jax.vmap(own, in_axes=(-1, -1))(theta, g)
    return 1.1 * (curvature * jnp.max(jnp.abs(contraction(flow, t, theta, g))) + jnp.max(diagonal))


def largest_eigenvalue(X: Matrix, rows: Rows, iterations: int = 40) -> Scalar:
    """Largest eigenvalue of X^T X / delta by power iteration; low by a few percent at most, as the bound allows."""
    samples, dim = rows.samples, X.shape[1]

    def body(_: Array, carry: tuple[Coordinates, Scalar]) -> tuple[Coordinates, Scalar]:
        v, _ = carry
        v = rows.total((v @ X.T) @ X) * (dim / samples)
        norm = jnp.sqrt(jnp.sum(v**2))
        return v / norm, norm

    # A fixed initialisation with no symmetry that data could share.
    v = jnp.cos(jnp.arange(dim) ** 1.5)
    return jax.lax.fori_loop(0, iterations, body, (v / jnp.sqrt(jnp.sum(v**2)), jnp.zeros(())))[1]


@compiled
def push(flow: Flow, dim: int) -> tuple[Scalar, Scalar]:
    """Smallest and largest C A at time 0, over a typical draw of the initialisation."""
    normals = jax.random.normal(jax.random.key(0), (dim, flow.num_normals))
    g = jnp.zeros((*flow.outputs, dim))
    values = contraction(flow, jnp.zeros(()), flow.init_rows(normals, jnp.ones((*flow.teachers, dim))), g)
    return jnp.min(values), jnp.max(values)


def is_stiff(flow: Flow, dim: int, aspect_ratio: float, horizon: float, rtol: float) -> bool:
    """Whether the stabilised solver is the cheaper one, by a rule of thumb.

    An ordinary explicit solver takes about rho horizon / 3 steps for stability alone; the stabilised one, of lower
    order, about 1/sqrt(rtol) for accuracy. rho supposes weights of order 1 and the Marchenko-Pastur edge: the choice
    affects the cost of a run, not what it computes. A flow that is no descent (C A > 0)
    never gets the stabilised solver.
    """
    low, high = (float(x) for x in push(flow, dim))
    edge = (1.0 + aspect_ratio**-0.5) ** 2
    return high <= 0.0 and max(-low, 1.0) * edge * horizon > 3.0 * rtol**-0.5
