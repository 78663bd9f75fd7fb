"""Converters for the fields of nouns: numbers become float64 arrays, and a wrong one is refused by name.

Only concrete values are checked: inside jit, grad or vmap a field is a tracer and passes.
"""

from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..numerics.precision import own_settings
from ..numerics.shown import shown
from ..types import Number, Scalar, is_traced

SMALLEST, LARGEST = 1e-75, 1e75
"""Sizes of numbers other than 0: fourth powers are taken (of an init scale, say), and doubles end at 1e+-308."""
LARGEST_INT = 2**53
"""Beyond it, not every int is a number of double precision."""


def number(
    name: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    example: float = 1.0,
    meaning: str = "",
) -> Callable[[Number], Scalar]:
    """Converter to a float64 scalar within bounds; messages say its ``meaning`` where the name does not."""
    needs = _bounds(above, at_least, at_most)
    means = f" ({meaning})" if meaning else ""

    def convert(value: Any) -> Scalar:
        fix = f"needs a number{needs}{means}, e.g. {name}={example:g}"
        array = as_float(name, value, fix)
        if array.ndim != 0:
            raise ValueError(f"{name}: given an array of shape {array.shape}, {fix}; pass a list of models for several")
        check_entries(name, array, fix, above=above, at_least=at_least, at_most=at_most)
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
        array = as_float(name, value, fix)
        if array.ndim != 1 or array.shape[0] == 0:
            raise ValueError(f"{name}: given shape {array.shape}, {fix}")
        check_entries(name, array, fix, above=above)
        return array

    return convert


def integer(name: str, *, at_least: int, example: int, at_most: int | None = None) -> Callable[[int], int]:
    """Converter to a static int; none is taken that double precision does not hold."""

    def convert(value: Any) -> int:
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        largest = LARGEST_INT if at_most is None else at_most
        if not whole or not at_least <= value <= largest:
            most = "" if at_most is None and not (whole and value > largest) else f" and at most {largest}"
            needs = f"needs an int of at least {at_least}{most}, e.g. {name}={example}"
            raise ValueError(f"{name}: given {shown(value)}, {needs}")
        return int(value)

    return convert


def flag(name: str) -> Callable[[Any], bool]:
    """Converter to a static bool; words such as "no" are refused, since Python takes them for True."""

    def convert(value: Any) -> bool:
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"{name}: given {shown(value)}, needs True or False, e.g. {name}=True")
        return bool(value)

    return convert


def instance(name: str, kind: type | tuple[type, ...], example: str, numbers: str = "") -> Callable[[Any], Any]:
    """Converter that passes instances of ``kind`` and refuses all else; ``numbers`` is what a list of them may mean."""
    kinds = " or ".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))

    def convert(value: Any) -> Any:
        if not isinstance(value, kind):
            listed = numbers and (isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0)
            meant = f"; for the law of given numbers, {name}={numbers}" if listed else ""
            raise TypeError(f"{name}: given {shown(value)}, needs a {kinds}, e.g. {name}={example}{meant}")
        return value

    return convert


def optional(name: str, kind: type, example: str, numbers: str = "") -> Callable[[Any], Any]:
    """Converter that passes instances of ``kind`` and None."""
    convert = instance(name, kind, example, numbers)
    return lambda value: None if value is None else convert(value)


def names_of(name: str, value: Any, example: str) -> tuple[str, ...]:
    """Return a list of names as a tuple, or refuse it; one word alone would be read letter by letter."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"{name}: given {shown(value)}, needs a list of names, e.g. {name}={example}")
    words = tuple(value)
    if not words or not all(isinstance(word, str) for word in words):
        raise ValueError(f"{name}: given {shown(value)}, needs at least one name, e.g. {name}={example}")
    return words


@own_settings()
def as_float(name: str, value: Any, fix: str) -> Array:
    """Convert to a float64 array, also in a program in single precision, or refuse by name; ``fix``: what is needed."""
    if isinstance(value, bool | np.bool_ | str | bytes | complex) or value is None:
        raise TypeError(f"{name}: given {shown(value)}, {fix}")
    if is_traced(value) and value.dtype == jnp.float32:
        # Its derivative would be taken after the call, where the user's precision holds, and break off there.
        raise TypeError(
            f"{name}: given a number that is traced (by jit, grad or vmap) in single precision, needs double: first "
            f'call jax.config.update("jax_enable_x64", True)'
        )
    try:
        if isinstance(value, jax.Array) or any(map(is_traced, jax.tree.leaves(value))):
            return jnp.asarray(value, dtype=jnp.float64)
        plain = np.asarray(value)
        wide = plain.dtype == object and all(isinstance(entry, int | float) for entry in plain.flat)
        if plain.dtype.kind not in "iuf" and not wide:  # bools, words, dates and None would be made numbers
            raise TypeError(value)
        return jnp.asarray(plain.astype(np.float64))
    except OverflowError:
        raise ValueError(f"{name}: given {shown(value)}, beyond double precision, {fix}") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name}: given {shown(value)}, {fix}") from None


def check_entries(
    name: str,
    array: Array | np.ndarray,
    fix: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> None:
    """Refuse concrete numbers that are not finite, outside their bounds, or too small or large to be squared twice."""
    if is_traced(array):
        return
    values = np.asarray(array, dtype=np.float64)  # of verbs that run in single precision too
    bad = ~np.isfinite(values)
    if above is not None:
        bad |= values <= above
    if at_least is not None:
        bad |= values < at_least
    if at_most is not None:
        bad |= values > at_most
    if bad.any():
        raise ValueError(f"{name}: given {values[bad].flat[0]:g}, {fix}")
    beyond = (values != 0.0) & ((np.abs(values) < SMALLEST) | (np.abs(values) > LARGEST))
    if beyond.any():
        sizes = f"a size from {SMALLEST:g} to {LARGEST:g}, whose fourth power double precision holds"
        raise ValueError(f"{name}: given {values[beyond].flat[0]:g}, {fix}; other than 0 it needs {sizes}")


def _bounds(above: float | None, at_least: float | None, at_most: float | None) -> str:
    words = []
    if above is not None:
        words.append(f"above {above:g}")
    if at_least is not None:
        words.append(f"of at least {at_least:g}")
    if at_most is not None:
        words.append(f"{'and ' * bool(words)}at most {at_most:g}")
    return " " + " ".join(words) if words else ""
