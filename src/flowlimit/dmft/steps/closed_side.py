"""The samples side of a step for the squared loss, which closes; see `samples_side`."""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from ..history import Node, times_history
from ..problem import Problem
from ..samples_side import feedback_rows, root_rows
from ..state import Rows
from .outputs import Outputs


def close_outputs(
    problem: Problem, node: Node, rows: Rows, W: Float[Array, "1 M"], R_w: Float[Array, "1 N"]
) -> Outputs:
    """Return the row of G = I - R_f and that of the root of C_f = G (C_w + sigma^2 11^T) G^T."""
    setting, paths = problem.setting, problem.paths
    past, own = feedback_rows(R_w, rows.G, node)
    centre = times_history(past, rows.W, node) + own @ W
    noise = jnp.sqrt(setting.noise_var) * (jnp.sum(past, axis=1) + jnp.sum(own, axis=1))
    scale = jnp.sqrt(paths.probability @ paths.w_star**2 + setting.noise_var)
    F = jnp.concatenate([centre * jnp.sqrt(paths.probability)[None], noise[:, None]], axis=1)
    # Replicas keep the innovations of their reference, if there is one.
    known = lax.dynamic_slice_in_dim(problem.reference.L, node, 1, axis=0)
    fresh = lax.dynamic_slice_in_dim(known, node, 1, axis=1)[0] != 0.0
    root = root_rows(F, rows.Q, node, scale, setting.tolerance, jnp.any(known != 0.0), fresh)
    G = lax.dynamic_update_slice_in_dim(past, own, node, axis=1)
    Q = lax.dynamic_update_slice_in_dim(rows.Q, root.Q, node, axis=0)
    return Outputs(G, root.L, jnp.zeros_like(W), jnp.zeros(0), Q, None)
