"""Numbers by address on the command line: ``model.init_scale=0.1,1`` or ``model.init_scale=log:0.01:10:40``."""

import math
import sys
from collections import Counter

MOST = 10**7
"""Most points of a sweep from the command line."""
LARGEST_INT = 2**53
"""A store keeps numbers in double precision, which has every integer up to here."""


def parse_axis(text: str, *, flag: str = "--over") -> tuple[str, list[float | int]]:
    """Read an axis.

    Examples
    --------
    >>> parse_axis("model.init_scale=log:0.1:10:3")
    ('model.init_scale', [0.1, 1.0, 10.0])
    >>> parse_axis("key=0,1,2")
    ('key', [0, 1, 2])
    """
    address, sign, values = (part.strip() for part in text.partition("="))
    try:
        if not sign or not address:
            raise ValueError
        if values.startswith(("lin:", "log:")):
            kind, low, high, count = values.split(":")
            numbers = _spaced(kind, float(_number(low)), float(_number(high)), int(count))
        else:
            numbers = [_number(value) for value in values.split(",")]
    except ValueError as error:
        why = f" ({error.args[0]})" if isinstance(error, RefusedError) else ""
        raise ValueError(
            f"{flag}: given {text!r}{why}, needs an address and finite numbers, e.g. model.init_scale=0.1,1,10 or "
            f"model.init_scale=log:0.01:10:40 (log or lin, from, to, count)"
        ) from None
    if len(set(numbers)) < len(numbers):
        twice, _ = Counter(numbers).most_common(1)[0]
        raise ValueError(f"{flag}: given {twice:g} twice in {text!r}, needs different values")
    return address, numbers


def parse_axes(texts: list[str]) -> dict[str, list[float | int]]:
    """Read the axes of a sweep, each of which stands once."""
    axes = {}
    for text in texts:
        address, values = parse_axis(text)
        if address in axes:
            raise ValueError(f"--over {address}: given twice, needs one axis with all its values")
        axes[address] = values
    points = math.prod(map(len, axes.values()))
    if points > MOST:
        raise ValueError(f"--over: given {points:.3g} points, needs at most {MOST:.3g}; split the axes over stores")
    return axes


class RefusedError(ValueError):
    """A number that is one, but is not taken."""


def _spaced(kind: str, low: float, high: float, count: int) -> list[float | int]:
    import numpy as np

    if count < 2 or count > MOST:
        raise RefusedError(f"a count from 2 to {MOST:.3g} is needed")
    if kind == "log" and not (low > 0.0 and high > 0.0):
        raise RefusedError("a log axis is above 0")
    values = (np.geomspace if kind == "log" else np.linspace)(low, high, count)
    if kind == "lin":  # 0 where rounding alone keeps a value from it
        values[np.abs(values) < 1e-15 * np.abs(values).max()] = 0.0
    # 15 significant digits: 0.3, not 0.30000000000000004
    return [low, *(float(f"{value:.15g}") for value in values[1:-1]), high]


def _number(text: str) -> float | int:
    try:
        value = int(text)
    except ValueError:
        value = float(text)
    if isinstance(value, int) and abs(value) > LARGEST_INT:
        raise RefusedError("integers above 2^53 are rounded in a store")
    if not math.isfinite(value):
        raise RefusedError(f"{text.strip()} is not finite")
    mantissa = text.lower().partition("e")[0]
    if abs(value) < sys.float_info.min and any(digit in mantissa for digit in "123456789"):
        raise RefusedError(f"{text.strip()} is too small for double precision")
    return value
