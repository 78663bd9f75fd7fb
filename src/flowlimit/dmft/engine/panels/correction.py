"""Quasi-Newton corrections of a block's iteration.

Plain iteration converges slowly where a panel is long against the fastest rate: what a change of R_w or of the root L
does to itself, through the samples side and back, then shrinks only like aspect_ratio or its inverse. Taking every
path's response to be the mean response gives that effect in closed form, with H = G R_w = I - G:

    a change dR of R_w comes back as    delta H dR H,
    a change dL of L as                 -sqrt(delta) H dL E Q^T,      E the normals, F = L Q,

exact for a linear model and harmless elsewhere. The corrected iterate solves dX - (what comes back) = residual.
"""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float

from ....types import Scalar

TERMS = 24
"""Of the Neumann series, at most."""
ENOUGH = 1e-3
"""Relative size of a term that is the last: the next iteration finds what is left with a residual so much smaller."""


def corrected_response(
    residual: Float[Array, "q N"], G_own: Float[Array, "q q"], G: Float[Array, "N N"], aspect_ratio: Scalar
) -> Float[Array, "q N"]:
    """Solve dR - delta H dR H = residual for a block's rows; ``G`` has the block's rows in place."""
    H_own = jnp.eye(G_own.shape[0]) - G_own
    return _neumann(residual, aspect_ratio * H_own, jnp.eye(G.shape[0]) - G, jnp.ones(residual.shape, dtype=bool))


def corrected_root(
    residual: Float[Array, "q N"],
    G_own: Float[Array, "q q"],
    overlap: Float[Array, "N N"],
    causal: Bool[Array, "q N"],
    aspect_ratio: Scalar,
) -> Float[Array, "q N"]:
    """Solve dL + sqrt(delta) H dL E Q^T = residual for a block's rows, within the lower triangle."""
    H_own = jnp.eye(G_own.shape[0]) - G_own
    return _neumann(residual, -jnp.sqrt(aspect_ratio) * H_own, overlap, causal)


def _neumann(
    residual: Float[Array, "q N"], left: Float[Array, "q q"], right: Float[Array, "N N"], mask: Bool[Array, "q N"]
) -> Float[Array, "q N"]:
    def again(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        count, total, term = carry
        term = jnp.where(mask, left @ term @ right, 0.0)
        return count + 1, total + term, term

    goes_on = lambda carry: (carry[0] < TERMS) & (_square(carry[2]) > ENOUGH**2 * _square(carry[1]))
    return lax.while_loop(goes_on, again, (jnp.array(0), residual, residual))[1]


def _square(x: Float[Array, "q N"]) -> Scalar:
    return jnp.vdot(x, x)
