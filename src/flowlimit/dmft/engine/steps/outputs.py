"""What a step of the samples side gives to the weights side."""

from typing import NamedTuple

from jaxtyping import Array, Float

from ..state import SampleRows


class Outputs(NamedTuple):
    """Response R_l and root L of the residuals l, what a teacher does beyond w - w*, averages, and what is kept."""

    R_l: Float[Array, "c N"]
    L: Float[Array, "c N"]
    teacher: Float[Array, "c M"]
    averages: Float[Array, "_"]
    Q: Float[Array, "NQ M1"]
    noises: Float[Array, "NN NW"]
    samples: SampleRows | None
