"""The interpolator of least norm J_alpha, by Newton's method on the dual.

min over nu of alpha^2 sum cosh((X^T nu)_i) - y.nu, then w = alpha^2 sinh(X^T nu): stationarity is X w = y. The third
derivative of cosh is at most its second, so a step of length log(1 + s)/s, with s the largest change of X^T nu, always
descends (generalised self-concordance): no line search, and from nu = 0 at any init scale.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Int

from ...numerics.compiling import compiled
from ...numerics.stable import scaled_cosh, scaled_sinh
from ...types import Coordinates, Matrix, Samples, Scalar

TOLERANCE = 1e-13
MAX_STEPS = 200

State = tuple[Samples, Scalar, Int[Array, ""]]


def dual_newton(X: Matrix, y: Samples, log_scale: Float[Array, "..."]) -> tuple[np.ndarray, float, int]:
    """Return w, the norm of X w - y over that of y, and the number of steps."""
    w, residual, steps = _solve(X, y, jnp.broadcast_to(log_scale, (X.shape[1],)))
    return np.asarray(w), float(residual), int(steps)


@compiled
def _solve(X: Matrix, y: Samples, log_scale: Coordinates) -> tuple[Coordinates, Scalar, Int[Array, ""]]:
    size = jnp.maximum(jnp.linalg.norm(y), jnp.finfo(y.dtype).tiny)

    def left(nu: Samples) -> Samples:
        return X @ scaled_sinh(log_scale, X.T @ nu) - y

    def step(state: State) -> State:
        nu, _, count = state
        hessian = (X * scaled_cosh(log_scale, X.T @ nu)[None, :]) @ X.T
        move = -jax.scipy.linalg.solve(hessian, left(nu), assume_a="pos")
        largest = jnp.max(jnp.abs(X.T @ move))
        length = jnp.where(largest > 1e-8, jnp.log1p(largest) / largest, 1.0)
        new = nu + length * move
        return new, jnp.linalg.norm(left(new)) / size, count + 1

    def unfinished(state: State) -> Array:
        return (state[1] > TOLERANCE) & (state[2] < MAX_STEPS)

    zero = jnp.zeros_like(y)
    nu, residual, steps = lax.while_loop(unfinished, step, (zero, jnp.linalg.norm(left(zero)) / size, jnp.array(0)))
    return scaled_sinh(log_scale, X.T @ nu), residual, steps
