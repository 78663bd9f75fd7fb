"""Real data: expression matrices, designs that experiments take from them, and tables in their principal basis."""

from .designs import sample_design, whiten
from .expression import load_expression, read_archive
from .principal import principal_data

__all__ = ["load_expression", "principal_data", "read_archive", "sample_design", "whiten"]
