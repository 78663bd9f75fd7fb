"""A run and its tangents at some nodes in time, as arrays."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ...results import Outcome
from .bases import Basis


@dataclass(frozen=True)
class TangentPath:
    """What a run leaves behind at its nodes, and how saved times follow from them.

    A kick of the residuals by e = sum over courses j of probe_j l_j(s), with l_j a step or a polynomial on a panel,
    moves the residuals by ``responses``.

    Attributes
    ----------
    residuals, responses
        Of all nodes.
    probes
        Of all courses.
    slow, shapes, direction
        Responses to slow kicks as well: along one ``direction`` over samples, with courses ``shapes`` at nodes.
    basis
        The courses at nodes, and which of them residuals at a node can depend on.
    readout
        From values at nodes to those at saved times.
    times, weights
        Saved times, and the weights at them.
    train_error_slip, residual_slip
        Errors in time, which panels leave: of the training error, and of residuals over their size; 0 for steps.
    steps
        How many steps were taken.
    result
        How it ended.
    """

    residuals: Float[np.ndarray, "nodes samples"]
    responses: Float[np.ndarray, "nodes probes samples"]
    probes: Float[np.ndarray, "courses probes samples"]
    slow: Float[np.ndarray, "nodes shapes samples"]
    shapes: Float[np.ndarray, "nodes shapes"]
    direction: Float[np.ndarray, "samples"]
    basis: Basis
    readout: Float[np.ndarray, "times nodes"]
    times: Float[np.ndarray, "times"]
    weights: Float[np.ndarray, "times dim"]
    train_error_slip: Float[np.ndarray, "times"]
    residual_slip: Float[np.ndarray, "times"]
    steps: int
    result: Outcome
