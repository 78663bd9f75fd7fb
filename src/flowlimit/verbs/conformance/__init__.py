"""Whether definition, runs and limit of a problem agree: for a model or a loss of one's own, and for all of ours."""

from .verb import Conformance, ConformanceRow, conform

__all__ = ["Conformance", "ConformanceRow", "conform"]
