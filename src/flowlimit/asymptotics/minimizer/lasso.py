"""The lasso, (1/(2 delta)) |y - X w|^2 + lambda |w|_1: accelerated proximal steps find the support, Newton ends it.

On a guessed support with guessed signs the minimiser solves a linear system; the guess is right if the optimality
conditions hold, and then the answer is exact to rounding. Until then accelerated proximal gradient goes on.
"""

import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jax import lax
from jaxtyping import Array, Float

from ...numerics.compiling import compiled
from ...numerics.proximal import soft_threshold
from ...types import Coordinates, Matrix, Samples, Scalar

STEPS_A_ROUND = 50
NEWTON_STEPS = 10
MAX_ROUNDS = 400
TOLERANCE = 1e-12
"""Largest relative duality gap."""

Vector = Float[np.ndarray, "_"]
State = tuple[Coordinates, Coordinates, Scalar]


def lasso(X: Matrix, y: Samples, weight_decay: float) -> tuple[Vector, float, int]:
    """Return w, its relative duality gap and the number of proximal steps."""
    own, target = np.asarray(X), np.asarray(y)
    lipschitz = jnp.asarray(_largest_eigenvalue(own))
    zero = jnp.zeros(own.shape[1])
    best, gap = np.asarray(zero), duality_gap(own, target, np.asarray(zero), weight_decay)
    state = zero, zero, jnp.ones(())
    for round_ in range(MAX_ROUNDS):
        if gap <= TOLERANCE:
            return best, gap, round_ * STEPS_A_ROUND
        state = _accelerated(X, y, state, jnp.asarray(weight_decay), lipschitz)
        w = np.asarray(state[0])
        for candidate in (w, _active_set(own, target, w, weight_decay)):
            if (new := duality_gap(own, target, candidate, weight_decay)) < gap:
                best, gap = candidate, new
    return best, gap, MAX_ROUNDS * STEPS_A_ROUND


def duality_gap(X: np.ndarray, y: Vector, w: Vector, weight_decay: float) -> float:
    """Return the primal less the dual objective, over the primal at w = 0: a bound of the distance to the minimum."""
    delta = len(y) / X.shape[1]
    residual = y - X @ w
    steepest = np.abs(X.T @ residual).max() / delta
    inside = residual * min(1.0, weight_decay / steepest) if steepest > 0.0 else residual
    primal = 0.5 * residual @ residual / delta + weight_decay * np.abs(w).sum()
    dual = 0.5 * (y @ y - (y - inside) @ (y - inside)) / delta
    size = 0.5 * y @ y / delta
    return float(max(primal - dual, 0.0) / size) if size > 0.0 else 0.0


def _largest_eigenvalue(X: np.ndarray) -> float:
    """Of X^T X / delta."""
    samples, dim = X.shape
    gram = X @ X.T if samples < dim else X.T @ X
    top = scipy.linalg.eigh(gram, eigvals_only=True, subset_by_index=[len(gram) - 1, len(gram) - 1])[0]
    return max(float(top), np.finfo(float).tiny) * dim / samples


@compiled
def _accelerated(X: Matrix, y: Samples, state: State, weight_decay: Scalar, lipschitz: Scalar) -> State:
    """Take Nesterov's steps, restarted whenever the momentum points uphill (O'Donoghue and Candes)."""
    delta = X.shape[0] / X.shape[1]

    def step(_: Array, state: State) -> State:
        w, ahead, momentum = state
        new = soft_threshold(ahead + X.T @ (y - X @ ahead) / (delta * lipschitz), weight_decay / lipschitz)
        uphill = jnp.vdot(ahead - new, new - w) > 0.0
        grown = jnp.where(uphill, 1.0, 0.5 * (1.0 + jnp.sqrt(1.0 + 4.0 * momentum**2)))
        push = jnp.where(uphill, 0.0, (momentum - 1.0) / grown)
        return new, new + push * (new - w), grown

    return lax.fori_loop(0, STEPS_A_ROUND, step, state)


def _active_set(X: np.ndarray, y: Vector, w: Vector, weight_decay: float) -> Vector:
    """Solve on the support, correct it by the optimality conditions, and again (a primal-dual active set)."""
    delta = len(y) / X.shape[1]
    pull = X.T @ (y - X @ w) / delta
    active = w != 0.0
    for _ in range(NEWTON_STEPS):
        if active.sum() > len(y) or not active.any():
            break
        own, sign = X[:, active], np.sign(np.where(w != 0.0, w, pull))[active]
        try:
            solved = scipy.linalg.solve(own.T @ own / delta, own.T @ y / delta - weight_decay * sign, assume_a="pos")
        except np.linalg.LinAlgError:
            break
        w = np.zeros(X.shape[1])
        w[active] = solved
        pull = X.T @ (y - X @ w) / delta
        wanted = np.abs(w + pull) > weight_decay
        if (wanted == active).all():
            break
        active = wanted
    return w
