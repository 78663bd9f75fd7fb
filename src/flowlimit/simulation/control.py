"""Step-size control in the quantity that matters: errors are measured in the weights as well as in theta.

Either alone fails at one end. With init scale 10 the weights are a hundred times more sensitive than theta; with init
scale 1e-4 they are 1e-8 at time 0, where an absolute error in them hides a wrong growth that theta shows.
"""

from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..problem.flow import Flow
from ..types import Scalar, ThetaRows

RESULTS = diffrax.RESULTS
SHORTEST = 4.0 * np.finfo(float).eps
"""Least step relative to its time."""


class WeightControl(diffrax.AbstractAdaptiveStepSizeController):
    """A PID controller that sees (theta / size, w / scale) in place of theta. The solve's ``args`` must be the flow."""

    controller: diffrax.PIDController
    size: Scalar
    scale: Scalar

    def __init__(self, tolerance: Scalar, size: Scalar, scale: Scalar) -> None:
        self.controller = diffrax.PIDController(rtol=tolerance, atol=tolerance, norm=_largest_rms)
        self.size, self.scale = size, scale

    @property
    def rtol(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Relative tolerance."""
        return self.controller.rtol

    @property
    def atol(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Absolute tolerance."""
        return self.controller.atol

    @property
    def norm(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The larger of the root mean squares of the parts."""
        return self.controller.norm

    def wrap(self, direction: Any) -> "WeightControl":
        """Time runs forward here."""
        return self

    def init(self, *args: Any, **kwargs: Any) -> Any:
        """Choose the first step by theta alone."""
        return self.controller.init(*args, **kwargs)

    def adapt_step_size(
        self,
        t0: Any,
        t1: Any,
        y0: ThetaRows,
        y1_candidate: ThetaRows,
        args: Flow,
        y_error: Any,
        error_order: Any,
        controller_state: Any,
    ) -> Any:
        """Hand the weights on beside theta, with their error to first order."""
        before = (y0 / self.size, args.readout_rows(t0, y0) / self.scale)
        w, w_error = jax.jvp(lambda theta: args.readout_rows(t1, theta), (y1_candidate,), (y_error,))
        after, error = (y1_candidate / self.size, w / self.scale), (y_error / self.size, w_error / self.scale)
        # Far too long a step may overflow: an infinite error is rejected, a NaN would be carried into the step size.
        finite = jnp.stack([jnp.isfinite(part).all() for part in (*after, *error)]).all()
        after = jax.tree.map(lambda new, old: jnp.where(finite, new, old), after, before)
        error = jax.tree.map(lambda part: jnp.where(finite, part, jnp.inf), error)
        keep, *rest, result = self.controller.adapt_step_size(
            t0, t1, before, after, args, error, error_order, controller_state
        )
        # A step too short for double precision cannot be made shorter: without an end here it would be tried for ever.
        stuck = ~keep & (t1 - t0 <= SHORTEST * jnp.abs(t1))
        codes: Any = RESULTS
        why = codes.where(finite, codes.dt_min_reached, codes.nonfinite_input)
        return keep, *rest, codes.where(stuck, why, result)


def theta_size(theta: ThetaRows) -> Scalar:
    """Return the size of an initialisation: its root mean square, at most 1, and 1 if it is zero."""
    rms = _rms(theta)
    return jnp.where(rms > 0.0, jnp.minimum(rms, 1.0), 1.0)


def label_scale(mean_square: Scalar) -> Scalar:
    """Return the size of the weights that fit: the root mean square of the labels, or 1 if they vanish."""
    rms = jnp.sqrt(mean_square)
    return jnp.where(rms > 0.0, rms, 1.0)


def _largest_rms(tree: Any) -> Scalar:
    return jnp.max(jnp.stack([_rms(leaf) for leaf in jax.tree.leaves(tree)]))


def _rms(x: Float[Array, "..."]) -> Scalar:
    return jnp.sqrt(jnp.mean(x**2))
