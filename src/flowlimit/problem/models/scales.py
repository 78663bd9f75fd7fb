"""Init scales: one number, a law to draw them from, or one for each coordinate of a data set."""

from typing import Any

import equinox as eqx
import jax
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


def is_per_coordinate(leaf: Any) -> bool:
    """Whether a part of a noun is numbers given coordinate by coordinate."""
    return isinstance(leaf, PerCoordinate)


def coordinate_axes(tree: Any) -> Any:
    """Return the axes to map a noun over coordinates with: 0 for numbers given one by one, None for all others."""
    return jax.tree.map(lambda leaf: 0 if is_per_coordinate(leaf) else None, tree, is_leaf=is_per_coordinate)


def first_coordinate(tree: Any) -> Any:
    """Return a noun as its first coordinate sees it."""
    first = lambda leaf: leaf.values[0] if is_per_coordinate(leaf) else leaf
    return jax.tree.map(first, tree, is_leaf=is_per_coordinate)


def num_coordinates_of(tree: Any) -> int | None:
    """Return how many coordinates a noun has numbers for; None if it has none that are given one by one."""
    given = filter(is_per_coordinate, jax.tree.leaves(tree, is_leaf=is_per_coordinate))
    return next((leaf.values.shape[0] for leaf in given), None)


def fixed_scale(scale: Scale) -> Float[Array, "*dim"] | None:
    """Return a scale that is one number or one per coordinate as an array; None for a law."""
    if isinstance(scale, Law):
        return None
    return scale.values if isinstance(scale, PerCoordinate) else scale


def draw_scale(scale: Scale, normals: Normals) -> Scalar:
    """Return the init scale of one coordinate."""
    if isinstance(scale, Law):
        return scale.draw(normals)
    return scale.values if isinstance(scale, PerCoordinate) else scale


def scale_normals(scale: Scale) -> int:
    """Return the number of standard normals from which the scale of a coordinate is made."""
    return DRAW_NORMALS if isinstance(scale, Law) else 0
