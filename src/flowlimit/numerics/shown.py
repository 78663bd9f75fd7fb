"""How messages show what was given."""

from typing import Any

SHOWN = 200
"""Characters of a value that a message shows."""


def shown(value: Any) -> str:
    """Return how a value prints, cut where it is long.

    Examples
    --------
    >>> shown(10**5000), len(shown("a" * 1000))
    ('an int', 203)
    """
    try:
        text = repr(value)
    except Exception:  # an int of thousands of digits; and whatever a class of theirs raises
        return f"an {type(value).__name__}" if isinstance(value, int) else f"a {type(value).__name__}"
    text = " ".join(line.strip() for line in text.splitlines())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
