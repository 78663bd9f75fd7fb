"""Case (iii), no weight decay and fewer samples than dimensions: the interpolator of least norm J_alpha."""

import jax.numpy as jnp

from ..problem.tasks import Regression
from ..types import Scalar
from .channel import make_channel
from .nodes import law_nodes

Pair = tuple[Scalar, Scalar]


def interpolator_errors(task: Regression, log_scale: Scalar, log_noise: Scalar, log_R: Scalar) -> Pair:
    """Return E[(w - w*)^2], and log E[R_w/(R_w + root)] - log(1 - delta), zero at the fixed point; eq. (fix_case3)."""
    R = jnp.exp(log_R)
    channel = make_channel(task.target, jnp.exp(log_noise))
    nodes = law_nodes(channel, log_scale, R)
    error = nodes.mean(nodes.from_target**2) + channel.probability @ channel.left_over
    return error, jnp.log(nodes.mean(R / (nodes.root + R))) - jnp.log1p(-task.aspect_ratio)


def interpolator_bracket(task: Regression, log_scale: Scalar, log_noise: Scalar) -> Pair:
    """Return bounds of log R_w.

    root = sqrt(w^2 + alpha^4) is at least alpha^2, and root/(root + R) is concave in it: so R delta/(1 - delta) lies
    between alpha^2 and E[root] <= alpha^2 + E|x|.
    """
    size = jnp.sqrt(task.target.second_moment + jnp.exp(2.0 * log_noise))
    odds = jnp.log1p(-task.aspect_ratio) - jnp.log(task.aspect_ratio)
    return log_scale + odds - 1e-3, jnp.logaddexp(log_scale, jnp.log(size)) + odds + 1e-3
