"""Numbers by address on the command line: ``model.init_scale=0.1,1`` or ``model.init_scale=log:0.01:10:40``."""


def parse_axis(text: str) -> tuple[str, list[float | int]]:
    """Read an axis.

    Examples
    --------
    >>> parse_axis("model.init_scale=log:0.1:10:3")
    ('model.init_scale', [0.1, 1.0, 10.0])
    >>> parse_axis("key=0,1,2")
    ('key', [0, 1, 2])
    """
    address, sign, values = text.partition("=")
    try:
        if not sign:
            raise ValueError
        if values.startswith(("lin:", "log:")):
            kind, low, high, count = values.split(":")
            return address, _spaced(kind, float(low), float(high), int(count))
        return address, [_number(value) for value in values.split(",")]
    except ValueError:
        raise ValueError(
            f"given {text!r}, needs an address and values, e.g. model.init_scale=0.1,1,10 or "
            f"model.init_scale=log:0.01:10:40 (log or lin, from, to, count)"
        ) from None


def _spaced(kind: str, low: float, high: float, count: int) -> list[float | int]:
    import numpy as np

    if count < 1 or (kind == "log" and not (low > 0.0 and high > 0.0)):
        raise ValueError
    return (np.geomspace if kind == "log" else np.linspace)(low, high, count).round(15).tolist()


def _number(text: str) -> float | int:
    try:
        return int(text)
    except ValueError:
        return float(text)
