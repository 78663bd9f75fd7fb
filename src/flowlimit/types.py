"""Array types, named once.

A *coordinate* is one of the ``dim`` entries of a weight vector. Arrays over coordinates keep them on the last axis, so
that ``theta`` of a model with k parameters per coordinate has shape ``(k, dim)`` and each parameter is contiguous.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Key

Number = float | int | Float[Array, ""]
"""What a user may give for a numeric field: a Python number or a (possibly traced) scalar array."""

Scalar = Float[Array, ""]
PRNGKey = Key[Array, ""]

Theta = Float[Array, "*parameters"]
"""Parameters of one coordinate: shape ``()`` for one parameter, ``(k,)`` for k."""
Normals = Float[Array, "normals"]
"""Standard normal numbers that one coordinate's initialisation is made from."""
ThetaRows = Float[Array, "*parameters dim"]
"""Parameters of all coordinates."""

Output = Float[Array, "*outputs"]
"""A model's output, weight or gradient: shape ``()`` for one output, ``(c,)`` for c."""
Teacher = Float[Array, "*teachers"]
"""A teacher's output or weight: shape ``()`` for one teacher, ``(c,)`` for c."""

Coordinates = Float[Array, "dim"]
OutputRows = Float[Array, "*outputs dim"]
"""Weights or gradients of all coordinates."""
TeacherRows = Float[Array, "*teachers dim"]
"""Targets of all coordinates."""
Samples = Float[Array, "samples"]
Matrix = Float[Array, "samples dim"]

Times = Sequence[float | int] | np.ndarray | Float[Array, "times"]
"""Times as a user may give them."""

Observable = Callable[..., Scalar]
"""A function ``(w, w_star) -> number`` of one coordinate, averaged over coordinates."""


def is_traced(value: Any) -> bool:
    """Whether a value is known only at run time, inside jit, grad or vmap."""
    return isinstance(value, Tracer)
