"""Converters for the fields of nouns: numbers become float64 arrays, and a wrong one is refused by name.

Only concrete values are checked: inside jit, grad or vmap a field is a tracer and passes.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..types import Number, Scalar, is_traced


def number(
    name: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    example: float = 1.0,
) -> Callable[[Number], Scalar]:
    """Converter to a float64 scalar within bounds."""
    needs = _bounds(above, at_least, at_most)

    def convert(value: Any) -> Scalar:
        fix = f"needs a number{needs}, e.g. {name}={example:g}"
        array = _as_float(name, value, fix)
        if array.ndim != 0:
            raise ValueError(f"{name}: given an array of shape {array.shape}, {fix}; pass a list of models for several")
        _check(name, array, above, at_least, at_most, fix)
        return array

    return convert


def optional_number(name: str, **bounds: Any) -> Callable[[Number | None], Scalar | None]:
    """Converter to a float64 scalar within bounds, or None."""
    convert = number(name, **bounds)
    return lambda value: None if value is None else convert(value)


def vector(
    name: str, *, above: float | None = None, example: str = "[0.0, 1.0]"
) -> Callable[[Any], Float[Array, "entries"]]:
    """Converter to a float64 vector."""

    def convert(value: Any) -> Float[Array, "entries"]:
        fix = f"needs a non-empty list or 1-d array of numbers{_bounds(above, None, None)}, e.g. {name}={example}"
        array = _as_float(name, value, fix)
        if array.ndim != 1 or array.shape[0] == 0:
            raise ValueError(f"{name}: given shape {array.shape}, {fix}")
        _check(name, array, above, None, None, fix)
        return array

    return convert


def integer(name: str, *, at_least: int, example: int) -> Callable[[int], int]:
    """Converter to a static int."""

    def convert(value: Any) -> int:
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or value < at_least:
            raise ValueError(f"{name}: given {value!r}, needs an int of at least {at_least}, e.g. {name}={example}")
        return int(value)

    return convert


def instance(name: str, kind: type, example: str) -> Callable[[Any], Any]:
    """Converter that passes instances of ``kind`` and refuses all else."""

    def convert(value: Any) -> Any:
        if not isinstance(value, kind):
            raise TypeError(f"{name}: given {value!r}, needs a {kind.__name__}, e.g. {name}={example}")
        return value

    return convert


def _as_float(name: str, value: Any, fix: str) -> Array:
    if isinstance(value, bool | str | bytes) or value is None:
        raise TypeError(f"{name}: given {value!r}, {fix}")
    if is_traced(value) and value.dtype == jnp.float32:
        # Its derivative would be taken after the call, where the user's precision holds, and break off there.
        raise TypeError(
            f"{name}: given a number that is traced (by jit, grad or vmap) in single precision, needs double: first "
            f'call jax.config.update("jax_enable_x64", True)'
        )
    try:
        return jnp.asarray(value, dtype=jnp.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: given {value!r}, {fix}") from None


def _check(
    name: str, array: Array, above: float | None, at_least: float | None, at_most: float | None, fix: str
) -> None:
    if is_traced(array):
        return
    values = np.asarray(array)
    bad = ~np.isfinite(values)
    if above is not None:
        bad |= values <= above
    if at_least is not None:
        bad |= values < at_least
    if at_most is not None:
        bad |= values > at_most
    if bad.any():
        raise ValueError(f"{name}: given {values[bad].flat[0]:g}, {fix}")


def _bounds(above: float | None, at_least: float | None, at_most: float | None) -> str:
    words = []
    if above is not None:
        words.append(f"above {above:g}")
    if at_least is not None:
        words.append(f"of at least {at_least:g}")
    if at_most is not None:
        words.append(f"{'and ' * bool(words)}at most {at_most:g}")
    return " " + " ".join(words) if words else ""
