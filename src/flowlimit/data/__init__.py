"""Real data: expression matrices, and the whitened designs that experiments take from them."""

from .designs import sample_design, whiten
from .expression import load_expression, read_archive

__all__ = ["load_expression", "read_archive", "sample_design", "whiten"]
