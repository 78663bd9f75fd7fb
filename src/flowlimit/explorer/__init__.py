"""The explorer: sliders, curves with bands, and a live experiment, in a browser. Needs the extra ``explore``."""

from .inputs import PRESETS, SLIDERS, Inputs

__all__ = ["PRESETS", "SLIDERS", "Inputs"]
