"""What a picture is: made once in the colours of a theme, and then shown scenes."""

from typing import Any, NamedTuple, Protocol

from ..answers import Found
from ..inputs import Inputs


class Scene(NamedTuple):
    """What a picture is of: the inputs, what was found, and the time at which a law is shown."""

    inputs: Inputs
    found: Found
    time: float


class Picture(Protocol):
    """One place on the page."""

    root: Any  # what stands on the page

    def show(self, scene: Scene) -> None:
        """Give the picture its numbers."""
