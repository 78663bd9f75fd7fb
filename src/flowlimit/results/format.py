"""Numbers for people: ``0.0519(2)`` is 0.0519 with a standard error of 2 in the last digit."""

import math


def uncertain(value: float, stderr: float) -> str:
    """Write a value with its standard error in the last digit.

    An unknown error (NaN, as with a single trial) leaves five significant digits and no bracket.

    Examples
    --------
    >>> uncertain(0.05192, 0.00021)
    '0.0519(2)'
    >>> uncertain(1234.5, 67.0)
    '1230(70)'
    >>> uncertain(0.05192, float("nan"))
    '0.051920'
    >>> uncertain(3.2e-9, 4e-11)
    '3.20(4)e-09'
    """
    if not math.isfinite(value):
        return str(value)
    if not math.isfinite(stderr) or stderr <= 1e-12 * abs(value):
        return f"{value:#.5g}"
    size = max(abs(value), stderr)
    if not 1e-4 <= size < 1e6:
        exponent = math.floor(math.log10(size))
        return f"{uncertain(value / 10.0**exponent, stderr / 10.0**exponent)}e{exponent:+03d}"
    place = math.floor(math.log10(stderr))
    digit = round(stderr / 10.0**place)
    if digit == 10:
        place, digit = place + 1, 1
    if place >= 0:
        return f"{round(value / 10**place) * 10**place:d}({digit * 10**place})"
    return f"{value:.{-place}f}({digit})"
