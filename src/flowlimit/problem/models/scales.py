"""Init scales: one number, a law to draw them from, or one for each coordinate of a data set."""

from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from ...types import Normals, Scalar
from ..checks import number, vector
from ..laws import DRAW_NORMALS, Law
from ..noun import Noun


class PerCoordinate(Noun):
    """Numbers given coordinate by coordinate; where a flow starts, its values go along with the coordinates."""

    values: Float[Array, "*dim"] = eqx.field(converter=vector("init_scale", above=0.0, example="0.3"))


Scale = Scalar | Law | PerCoordinate


def as_scale(value: Any) -> Scale:
    """Convert what a user gives for an init scale, or refuse it."""
    if isinstance(value, Law | PerCoordinate):
        return value
    if getattr(value, "ndim", 0) == 1 or isinstance(value, list | tuple):
        return PerCoordinate(value)
    return number("init_scale", above=0.0, example=0.3)(value)


def draw_scale(scale: Scale, normals: Normals) -> Scalar:
    """Return the init scale of one coordinate."""
    if isinstance(scale, Law):
        return scale.draw(normals)
    return scale.values if isinstance(scale, PerCoordinate) else scale


def scale_normals(scale: Scale) -> int:
    """Return how many standard normals a coordinate's scale is made from."""
    return DRAW_NORMALS if isinstance(scale, Law) else 0
