"""Axes that a user gives to draw in."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes


def panels_of(ax: Any, names: Sequence[str]) -> np.ndarray:
    """Return axes as a flat array, or refuse what is none, or another number than one for each name."""
    panels = np.ravel(np.asarray(ax, dtype=object))
    if len(panels) != len(names) or not all(isinstance(panel, Axes) for panel in panels):
        given = f"{len(panels)} of type {type(panels[0]).__name__}" if len(panels) else "none"
        raise ValueError(
            f"ax: given {given}, needs {len(names)} matplotlib axes, one for each of {', '.join(names)}, "
            f"e.g. ax=plt.subplots(1, {len(names)})[1]"
        )
    return panels
