"""Whether definition, runs and limit of a problem agree: for a user's model or loss, and for all of the package."""

from .verb import Conformance, ConformanceRow, conform

__all__ = ["Conformance", "ConformanceRow", "conform"]
