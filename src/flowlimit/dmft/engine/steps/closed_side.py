"""The samples side of a step for the squared loss, which closes; see `samples_side`.

Batches and fresh labels add white noise of variance q to residuals: with e = f - y the residual is l = e + noise, and

    C_l = G (C_w + sigma^2 11^T + diag q) G^T,    E[e_i^2] = [G (C_w + sigma^2 11^T) G^T]_ii + sum_{j<i} G_ij^2 q_j,

R_l = G as without. q_i is known once E[e_i^2], the training error, is. With one batch for all steps, a fraction B of
the samples, each weighs 1/B: G = (I + R_w/B)^-1 and C_l is divided by B.
"""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from ..history import Node, before, times_history
from ..replica import Replica
from ..samples_side import feedback_rows, noise_columns, root_rows
from ..state import Rows
from .outputs import Outputs


def close_outputs(
    replica: Replica, step: Node, node: Node, rows: Rows, W: Float[Array, "1 M"], R_w: Float[Array, "1 N"]
) -> Outputs:
    """Return the row of G = I - R_f and that of the root of C_f = G (C_w + sigma^2 11^T) G^T; its place is ``node``."""
    setting, paths = replica.setting, replica.paths
    steps = replica.site.flow.noise
    kept = steps.kept_fraction
    past, own = feedback_rows(R_w / kept, rows.G, node)
    centre = times_history(past, rows.W, node) + own @ W
    fresh_noise = rows.noises.shape[1] > 1
    noise = jnp.zeros((1, rows.noises.shape[1])).at[0, 0].set(jnp.sqrt(setting.noise_var))
    noises = times_history(before(past, node), rows.noises, node) + own @ noise
    F = jnp.concatenate([centre * jnp.sqrt(paths.probability)[None], noise_columns(paths, noises)], axis=1)
    squares = jnp.stack([jnp.sum(F**2), paths.probability @ paths.w_star**2, W[0] ** 2 @ paths.probability])
    train, target, distance = paths.total(squares)
    scale = jnp.sqrt(target + setting.noise_var)
    if fresh_noise:
        own_noise = jnp.sqrt(steps.residual_variance(train))[None, None]
        column = 1 + (step if replica.merging is None else replica.merging.noise_place(step))
        noise = lax.dynamic_update_slice(noise, own_noise, (0, column))
        F = lax.dynamic_update_slice(F, noise_columns(paths, own_noise), (0, W.shape[1] + column))
    F = F / jnp.sqrt(kept)
    # Replicas keep the innovations of their reference, if there is one.
    known = lax.dynamic_slice_in_dim(replica.reference.L, step, 1, axis=0)
    fresh = lax.dynamic_slice_in_dim(known, step, 1, axis=1)[0] != 0.0
    root = root_rows(F, rows.Q, node, scale, setting.tolerance, jnp.any(known != 0.0), fresh, paths.total)
    G = lax.dynamic_update_slice_in_dim(past, own, node, axis=1)
    put = lambda whole, part: lax.dynamic_update_slice_in_dim(whole, part, node, axis=0)
    test = distance + setting.noise_var
    train = kept * train + (1.0 - kept) * test  # samples that are never seen are like new ones
    averages = jnp.stack([train, test, 0.5 * train, jnp.zeros(())])
    return Outputs(G, root.L, jnp.zeros_like(W), averages, put(rows.Q, root.Q), put(rows.noises, noise), None)
