"""Pictures: result -> matplotlib Axes. Nothing below this room imports matplotlib."""

from .curves import curves

__all__ = ["curves"]
